// A library that a sealed worker loads.
extern "C" int answer() { return 42; }
