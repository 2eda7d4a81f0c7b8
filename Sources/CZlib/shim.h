#include <zlib.h>

// The initializers of zlib are macros, which Swift does not import.
static inline int coredata_inflateInitRaw(z_stream *stream) { return inflateInit2(stream, -MAX_WBITS); }
static inline int coredata_deflateInitRaw(z_stream *stream) {
    return deflateInit2(stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
}
