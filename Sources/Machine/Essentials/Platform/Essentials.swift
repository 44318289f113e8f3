// The part of Foundation that works without its localization data, which would be 44 MB of each statically linked
// program, the C library, and what a line or two adds to them for everyone. Not here: anything with a name of its own.
#if canImport(FoundationEssentials)
    @_exported public import FoundationEssentials
#else
    @_exported public import Foundation
#endif
#if canImport(Glibc)
    @_exported public import Glibc
#elseif canImport(Musl)
    @_exported public import Musl
#endif
