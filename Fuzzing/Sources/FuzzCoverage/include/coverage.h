/// Does nothing but make the linker take the file along.
void fuzz_coverage_link(void);
