"""JSONL <-> Parquet for `passnet data import` and `export`: every column is a string.

    parquet.py write ROWS.jsonl OUT.parquet
    parquet.py read  IN.parquet ROWS.jsonl

Exits with 3 where pyarrow is missing.
"""
import json, sys

BATCH = 1000

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    sys.exit(3)


def write(source, target):
    writer, schema, rows = None, None, []
    with open(source, encoding="utf-8") as f:
        for line in f:
            rows.append(json.loads(line))
            if len(rows) < BATCH:
                continue
            schema = schema or pa.schema([(k, pa.string()) for k in rows[0]])
            writer = writer or pq.ParquetWriter(target, schema, compression="zstd")
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))
            rows = []
    if rows or writer is None:
        schema = schema or pa.schema([(k, pa.string()) for k in (rows[0] if rows else {"uid": ""})])
        writer = writer or pq.ParquetWriter(target, schema, compression="zstd")
        writer.write_table(pa.Table.from_pylist(rows, schema=schema))
    writer.close()


def read(source, target):
    with open(target, "w", encoding="utf-8") as f:
        for batch in pq.ParquetFile(source).iter_batches(batch_size=BATCH):
            for row in batch.to_pylist():
                f.write(json.dumps({k: v for k, v in row.items() if isinstance(v, str)}) + "\n")


{"write": write, "read": read}[sys.argv[1]](sys.argv[2], sys.argv[3])
