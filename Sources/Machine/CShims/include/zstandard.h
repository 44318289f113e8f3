#ifndef CSHIMS_ZSTANDARD_H
#define CSHIMS_ZSTANDARD_H

// The streaming interface of libzstd, stable since version 1.4 [zstd.h]. It is declared here, since the library is
// loaded at run time and its own header need not be installed. A size is also how errors are returned.

#include <stddef.h>

#pragma clang assume_nonnull begin

/// `ZSTD_inBuffer`.
struct zstandard_input {
    const void *_Nullable bytes;
    size_t count;
    size_t position;
};

/// `ZSTD_outBuffer`.
struct zstandard_output {
    void *_Nullable bytes;
    size_t count;
    size_t position;
};

struct zstandard_functions {
    void *_Nullable (*_Nonnull create_context)(void);
    size_t (*free_context)(void *context);
    size_t (*set_parameter)(void *context, int parameter, int value);
    size_t (*decompress_stream)(void *context, struct zstandard_output *output, struct zstandard_input *input);
    unsigned (*is_error)(size_t result);
};

#pragma clang assume_nonnull end

#endif
