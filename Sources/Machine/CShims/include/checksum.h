#ifndef CSHIMS_CHECKSUM_H
#define CSHIMS_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Whether the processor has instructions for CRC-32C.
bool checksum_is_available(void);

/// Continues a CRC-32C (without its initial value and final xor) over the bytes. Only if it is available.
uint32_t checksum_update(uint32_t crc, const void *bytes, size_t count);

#endif
