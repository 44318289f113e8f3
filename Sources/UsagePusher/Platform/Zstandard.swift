import CShims
import Essentials
import LocalFiles

/// Decompresses Zstandard files with the system's libzstd.
///
/// Unchecked because the addresses of C functions, which do not change, are not declared as sendable.
struct Zstandard: @unchecked Sendable {
    enum Outcome: Sendable {
        case complete
        /// The file ends within a frame.
        case truncated
        /// Damaged, compressed with a window over 2 MiB, or of frames and blocks with next to nothing in them.
        case invalid
        /// The consumer had enough.
        case stopped
    }

    /// 2 MiB: the window up to level 8, while Codex compresses at level 3.
    private static let windowLogMax: (parameter: CInt, value: CInt) = (100, 21)
    private static let blockHeaderByteCount = 3
    private static let inputByteCount = 65_536
    /// A block at most.
    private static let outputByteCount = 131_072
    /// Frames and blocks can be empty, and one takes as long as some kilobytes: beyond so many calls each must take
    /// this many bytes on average, of both sides together.
    private static let (callLimit, bytesPerCall) = (65_536, 32)

    private let call: zstandard_functions

    /// The system's library; nil when it is not installed.
    static let installed = Zstandard(fileNames: fileNames)

    /// Loads the first library that exists, and keeps it loaded; nil when there is none.
    init?(fileNames: [String]) {
        guard let library = SharedLibrary(fileNames: fileNames) else { return nil }
        do throws(SharedLibrary.MissingFunction) {
            call = try zstandard_functions(
                create_context: library.function("ZSTD_createDCtx"),
                free_context: library.function("ZSTD_freeDCtx"),
                set_parameter: library.function("ZSTD_DCtx_setParameter"),
                decompress_stream: library.function("ZSTD_decompressStream"),
                is_error: library.function("ZSTD_isError"))
        } catch {
            // Too old for what is asked here, as good as none.
            return nil
        }
    }

    /// Passes the file's decompressed bytes to `consume`, block by block, until that returns false. A chunk may
    /// be empty.
    ///
    /// Needs at most 3 MiB of memory.
    func decompress(_ file: OpenFile, consume: (UnsafeRawBufferPointer) -> Bool) throws(FileError) -> Outcome {
        guard let stream = Stream(call) else { throw FileError(operation: "decompress", path: file.path, code: ENOMEM) }
        var offset: Int64 = 0
        while true {
            let input = try file.bytes(at: offset, count: Self.inputByteCount)
            if input.isEmpty { return stream.outcomeAtEnd }
            offset += Int64(input.count)
            if let end = input.withUnsafeBytes({ stream.decompress($0, consume) }) { return end }
        }
    }

    /// Passes the decompressed bytes of a value, as `decompress` does those of a file.
    func decompress(_ bytes: UnsafeRawBufferPointer, consume: (UnsafeRawBufferPointer) -> Bool) -> Outcome {
        guard let stream = Stream(call) else { return .invalid }
        return stream.decompress(bytes, consume) ?? stream.outcomeAtEnd
    }

    /// A context of the library with the space for what it writes.
    private final class Stream {
        private let call: zstandard_functions
        private let context: UnsafeMutableRawPointer
        /// Whether the library has taken the limit of memory.
        private let isBounded: Bool
        private var output = [UInt8](repeating: 0, count: Zstandard.outputByteCount)
        /// How many bytes the next call can use; 0 at the end of a frame.
        private var wanted = 1
        private var (callCount, byteCount) = (0, 0)

        /// Nil without memory.
        init?(_ call: zstandard_functions) {
            guard let context = call.create_context() else { return nil }
            self.call = call
            self.context = context
            let (parameter, value) = Zstandard.windowLogMax
            isBounded = call.is_error(call.set_parameter(context, parameter, value)) == 0
        }

        deinit { _ = call.free_context(context) }

        /// When there is no further input.
        var outcomeAtEnd: Outcome { wanted == 0 ? .complete : .truncated }

        private var isTooSlow: Bool { callCount > Zstandard.callLimit + byteCount / Zstandard.bytesPerCall }

        /// Returns nil when all of `input` has been used.
        func decompress(_ input: UnsafeRawBufferPointer, _ consume: (UnsafeRawBufferPointer) -> Bool) -> Outcome? {
            guard isBounded else { return .invalid }
            return output.withUnsafeMutableBytes { output in
                var source = zstandard_input(bytes: input.baseAddress, count: 0, position: 0)
                var target = zstandard_output(bytes: output.baseAddress, count: output.count, position: 0)
                var isOutputFull = false
                while source.position < input.count || (isOutputFull && wanted > 0) {
                    // An error discards the output of its call, so no call gets more than a block, whose size
                    // is wanted together with the header of the next one.
                    let header = Zstandard.blockHeaderByteCount
                    let step = wanted > header ? wanted - header : max(wanted, 1)
                    let start = source.position
                    source.count = min(input.count, source.position + step)
                    target.position = 0
                    let result = call.decompress_stream(context, &target, &source)
                    if call.is_error(result) != 0 { return .invalid }
                    wanted = result
                    callCount += 1
                    byteCount += source.position - start + target.position
                    if isTooSlow { return .invalid }
                    isOutputFull = target.position == target.count
                    if !consume(UnsafeRawBufferPointer(rebasing: output[..<target.position])) { return .stopped }
                }
                return nil
            }
        }
    }
}
