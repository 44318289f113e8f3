// CRC-32C of the log's frames, by the processor's instruction where there is one. Not here:
// anything else in C.

#include "checksum.h"

#include <string.h>

#if defined(__x86_64__)

bool checksum_is_available(void) { return __builtin_cpu_supports("sse4.2"); }

#define TARGET __attribute__((target("sse4.2")))
#define STEP8(crc, word) (uint32_t)__builtin_ia32_crc32di(crc, word)
#define STEP1(crc, byte) __builtin_ia32_crc32qi(crc, byte)

#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)

#include <arm_acle.h>

bool checksum_is_available(void) { return true; }

#define TARGET
#define STEP8(crc, word) __crc32cd(crc, word)
#define STEP1(crc, byte) __crc32cb(crc, byte)

#else

bool checksum_is_available(void) { return false; }

#define TARGET
#define STEP8(crc, word) (crc)
#define STEP1(crc, byte) (crc)

#endif

TARGET uint32_t checksum_update(uint32_t crc, const void *bytes, size_t count) {
    const unsigned char *next = bytes;
    for (; count >= 8; count -= 8, next += 8) {
        uint64_t word;
        memcpy(&word, next, 8);
        crc = STEP8(crc, word);
    }
    for (; count > 0; count--, next++) crc = STEP1(crc, *next);
    return crc;
}
