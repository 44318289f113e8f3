#ifndef CSHIMS_EXPRESSIONS_H
#define CSHIMS_EXPRESSIONS_H

// What matching regular expressions needs of libpcre2-8, whose binary interface is stable since version 10 [pcre2api(3)].
// It is declared here, since the library is loaded at run time and its own header need not be installed. Functions have
// the names of that header without `pcre2_` and `_8`.

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

struct expression_functions {
    void *_Nullable (*_Nonnull compile_context_create)(void *_Nullable general);
    void (*compile_context_free)(void *_Nullable context);
    int (*set_newline)(void *context, uint32_t value);
    void *_Nullable (*_Nonnull compile)(const uint8_t *pattern, size_t count, uint32_t options, int *error,
                                        size_t *offset, void *_Nullable context);
    void (*code_free)(void *_Nullable code);
    int (*get_error_message)(int error, uint8_t *buffer, size_t count);
    void *_Nullable (*_Nonnull match_context_create)(void *_Nullable general);
    void (*match_context_free)(void *_Nullable context);
    int (*set_heap_limit)(void *context, uint32_t kibibytes);
    /// The callback gets a block of the library and `data`; what it returns, if not 0, ends the match.
    int (*set_callout)(void *context, int (*_Nullable callback)(void *_Nullable block, void *_Nullable data),
                       void *_Nullable data);
    void *_Nullable (*_Nonnull match_data_create)(uint32_t pair_count, void *_Nullable general);
    void (*match_data_free)(void *_Nullable match);
    int (*match)(const void *code, const uint8_t *text, size_t count, size_t start, uint32_t options, void *match,
                 void *_Nullable context);
    /// Pairs of offsets in bytes, the first of the whole match.
    size_t *_Nonnull (*_Nonnull get_ovector_pointer)(void *match);
};

#pragma clang assume_nonnull end

#endif
