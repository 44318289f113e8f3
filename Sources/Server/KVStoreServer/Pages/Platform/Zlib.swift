import Essentials

/// Compresses with the system's libz.
///
/// The library is loaded at run time: nothing is needed to build, and a machine without it sends more bytes.
package enum Zlib {
    /// compress2 and compressBound of zlib.h. A `uLong` has the size of a pointer on the systems that are supported.
    private typealias Compress =
        @convention(c) (
            UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<UInt>, UnsafePointer<UInt8>, UInt, CInt
        ) -> CInt
    private typealias Bound = @convention(c) (UInt) -> UInt

    /// The bytes in the format of zlib, which HTTP calls `deflate` (RFC 9110, section 8.4.1.2); nil without the
    /// library.
    package static func deflate(_ bytes: [UInt8]) -> [UInt8]? {
        guard let library = dlopen(fileName, RTLD_NOW | RTLD_LOCAL),
            let compress = dlsym(library, "compress2").map({
                unsafeBitCast($0, to: Compress.self)
            }),
            let bound = dlsym(library, "compressBound").map({ unsafeBitCast($0, to: Bound.self) })
        else { return nil }
        let capacity = bound(UInt(bytes.count))
        var count = capacity
        var status: CInt = -1
        let compressed = [UInt8](unsafeUninitializedCapacity: Int(capacity)) { buffer, used in
            guard let start = buffer.baseAddress else { return }
            status = bytes.withUnsafeBufferPointer { source in
                source.baseAddress.map { compress(start, &count, $0, UInt(bytes.count), 9) } ?? -1
            }
            used = status == 0 ? Int(count) : 0
        }
        return status == 0 ? compressed : nil
    }
}
