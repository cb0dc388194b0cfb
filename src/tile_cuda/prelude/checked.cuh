// The checked build asks before every element. Programs may run at the same time: whoever touches an element leaves a
// mark, then looks at the others' marks, so of two programs that meet at least one knows. The host has the same
// structures (tile_cuda/checked.cpp).
struct CheckRegion {
  u64 begin, bytes;
  u32 shift;  // of an offset, to its granule
  u32 all_written;
  volatile u32 stored;
  u32 unused;
  u8* written;  // by granule, a bit a byte, unless all_written
  u64* writer;  // by granule, in a launch that may write here: the program's mark, then what it stored
  u32* reader;
};
struct CheckFinding {
  u64 count;
  u64 first;  // program, then element from the site's base on; the least counts
  u64 far;    // the address, where the element has no room in it
  u32 other, unused;
};
struct CheckSite {
  u64 base;
  i32 region;  // -1: any
  u32 kind, size, replaces;  // an exchange whose old value nobody looks at
  CheckFinding found[5];
};
struct Check {
  CheckRegion* regions;
  CheckSite* sites;
  u64 region_count;
};
enum { CHECK_LOAD, CHECK_STORE, CHECK_ATOMIC };
enum { CHECK_BOUNDS, CHECK_UNINITIALISED, CHECK_WRITE_RACE, CHECK_READ_RACE, CHECK_ASSERTION };
#define CHECK_ATOMIC_MARK 0x80000000u
#define CHECK_MANY 0x7fffffffu
#define CHECK_ELEMENT_BITS 33
static __device__ __noinline__ void check_note(CheckSite& s, int fault, i64 program, u64 address, u32 other) {
  CheckFinding& f = s.found[fault];
  atomicAdd(&f.count, 1ull);
  const i64 half = 1ll << (CHECK_ELEMENT_BITS - 1), at = (i64)(address - s.base) / (i64)s.size + half;
  const bool near = at > 0 && at < 2 * half - 1;
  const u64 key = ((u64)program << CHECK_ELEMENT_BITS) | (near ? (u64)at : at <= 0 ? 0ull : (u64)(2 * half - 1));
  if (atomicMin(&f.first, key) > key) {
    f.far = address;
    f.other = other;
  }
}
// The bits of those bytes of a granule that the access touches (tile::bytes_of_granule).
INLINE u32 check_bytes(const CheckSite& s, const CheckRegion& r, u64 granule, u64 address) {
  const u64 offset = address - r.begin, begin = granule << r.shift, end = begin + (1ull << r.shift);
  const u64 from = offset > begin ? offset : begin, to = offset + s.size < end ? offset + s.size : end;
  return ((1u << (to - from)) - 1) << (from - begin);
}
INLINE bool check_written(const CheckSite& s, const CheckRegion& r, u64 granule, u64 address) {
  return r.all_written || (~((volatile u8*)r.written)[granule] & check_bytes(s, r, granule, address)) == 0;
}
INLINE u32 check_writer(const CheckRegion& r, u64 granule) {
  return (u32)(((volatile u64*)r.writer)[granule] >> 32);
}
INLINE bool check_load(CheckSite& s, CheckRegion& r, u64 granule, i64 program, u64 address, bool ordered) {
  if (!check_written(s, r, granule, address)) {
    check_note(s, CHECK_UNINITIALISED, program, address, 0);
    return false;
  }
  if (!r.writer) return true;
  const u32 me = (u32)program + 1, reader = atomicCAS(&r.reader[granule], 0u, me);
  if (reader != 0 && reader != me) r.reader[granule] = CHECK_MANY;
  __threadfence();
  const u32 writer = check_writer(r, granule);
  if (writer != 0 && (writer & ~CHECK_ATOMIC_MARK) != me && !ordered)
    check_note(s, CHECK_READ_RACE, program, address, writer);
  return true;
}
INLINE void check_fill(const CheckSite& s, const CheckRegion& r, u64 granule, u64 address) {
  if (!r.all_written)
    atomicOr((u32*)(r.written + (granule & ~3ull)), check_bytes(s, r, granule, address) << 8 * (granule & 3));
}
INLINE void check_store(CheckSite& s, CheckRegion& r, u64 granule, i64 program, u64 address, u32 bits, bool ordered) {
  if (!r.stored) r.stored = 1;
  check_fill(s, r, granule, address);
  if (!r.writer) return;
  const u32 me = (u32)program + 1;
  const u64 old = atomicExch(&r.writer[granule], ((u64)me << 32) | bits);
  __threadfence();
  const u32 writer = (u32)(old >> 32), reader = ((volatile u32*)r.reader)[granule];
  if (ordered) return;
  // Two programs that store the same bits leave the same memory in either order.
  if (writer != 0 && (writer & ~CHECK_ATOMIC_MARK) != me && ((writer & CHECK_ATOMIC_MARK) || (u32)old != bits))
    check_note(s, CHECK_WRITE_RACE, program, address, writer);
  if (reader != 0 && reader != me) check_note(s, CHECK_READ_RACE, program, address, reader);
}
INLINE bool check_atomic(CheckSite& s, CheckRegion& r, u64 granule, i64 program, u64 address, bool ordered) {
  if (!r.stored) r.stored = 1;
  if (s.replaces) {
    check_fill(s, r, granule, address);
  } else if (!check_written(s, r, granule, address)) {
    check_note(s, CHECK_UNINITIALISED, program, address, 0);
    return false;
  }
  if (!r.writer) return true;
  const u32 me = (u32)program + 1;
  u64 old = ((volatile u64*)r.writer)[granule], seen;
  u32 writer;
  do {
    seen = old;
    writer = (u32)(seen >> 32);
    const u32 next = (writer == 0 || (writer & ~CHECK_ATOMIC_MARK) == me ? me : CHECK_MANY) | CHECK_ATOMIC_MARK;
    old = atomicCAS(&r.writer[granule], seen, (u64)next << 32);
  } while (old != seen);
  if (writer != 0 && !(writer & CHECK_ATOMIC_MARK) && writer != me && !ordered)
    check_note(s, CHECK_WRITE_RACE, program, address, writer);
  return true;
}
INLINE bool check_inside(const CheckRegion& r, u64 address, u32 size) {
  return address >= r.begin && address - r.begin + size <= r.bytes;
}
// Whether the element may be touched. `value`: the bits about to be stored. `ordered`: this program has done an atomic,
// and what it sees of others may be ordered by that. `alone`: of threads that touch the same element for one program,
// one is to tell.
static __device__ __noinline__ bool check_access(const Check* check, u32 site, i64 program, const void* p, u64 value,
                                                 bool ordered, bool alone) {
  CheckSite& s = check->sites[site];
  const u64 address = (u64)p;
  CheckRegion* r = s.region < 0 ? nullptr : &check->regions[s.region];
  if (s.region < 0)
    for (u32 i = 0; i < check->region_count; ++i)
      if (check_inside(check->regions[i], address, s.size)) r = &check->regions[i];
  if (!r || !check_inside(*r, address, s.size)) {
    if (alone) check_note(s, CHECK_BOUNDS, program, address, 0);
    return false;
  }
  if (s.kind == CHECK_LOAD && r->all_written && !r->writer) return true;
  const u64 offset = address - r->begin, first = offset >> r->shift, last = (offset + s.size - 1) >> r->shift;
  const u32 bytes = s.size < (1u << r->shift) ? s.size : 1u << r->shift;
  bool right = true;
  for (u64 g = first; g <= last; ++g, value >>= bytes < 8 ? 8 * bytes : 0) {
    if (!alone) {
      right &= s.kind == CHECK_STORE || check_written(s, *r, g, address);
      continue;
    }
    if (s.kind == CHECK_LOAD)
      right &= check_load(s, *r, g, program, address, ordered);
    else if (s.kind == CHECK_STORE)
      check_store(s, *r, g, program, address,
                  bytes == 8 ? (u32)value ^ (u32)(value >> 32) * 0x9e3779b1u
                             : (u32)value & (bytes == 4 ? ~0u : (1u << 8 * bytes) - 1),
                  ordered);
    else
      right &= check_atomic(s, *r, g, program, address, ordered);
  }
  return right;
}
template <class E>
INLINE typename E::C check_load_one(const Check* check, u32 site, i64 program, const typename E::S* p, bool ordered,
                                    bool alone) {
  return check_access(check, site, program, p, 0, ordered, alone) ? E::up(*p)
                                                                   : (typename E::C)0;
}
template <class E>
INLINE void check_store_one(const Check* check, u32 site, i64 program, typename E::S* p, typename E::C x,
                            bool ordered) {
  const typename E::S s = E::down(x);
  u64 bits = 0;
  memcpy(&bits, &s, sizeof s);
  if (check_access(check, site, program, p, bits, ordered, true)) *p = s;
}
INLINE void check_failed(const Check* check, u32 site, i64 program) {
  check_note(check->sites[site], CHECK_ASSERTION, program, 0, 0);
}
