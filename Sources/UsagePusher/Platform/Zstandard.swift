import Foundation
import LocalFiles

/// Decompresses Zstandard files with the system's libzstd.
///
/// The library is loaded at run time: nothing is needed to build, and a machine without it only lacks this format.
struct Zstandard: Sendable {
    enum Outcome: Sendable {
        case complete
        /// The file ends within a frame.
        case truncated
        /// Damaged, compressed with a window over 2 MiB, or of frames and blocks with next to nothing in them.
        case invalid
        /// The consumer had enough.
        case stopped
    }

    /// The streaming interface, stable since libzstd 1.4 [zstd.h]. A size is also how errors are returned.
    private typealias CreateContext = @Sendable @convention(c) () -> UnsafeMutableRawPointer?
    private typealias FreeContext = @Sendable @convention(c) (UnsafeMutableRawPointer) -> UInt
    private typealias SetParameter = @Sendable @convention(c) (UnsafeMutableRawPointer, CInt, CInt) -> UInt
    private typealias DecompressStream =
        @Sendable @convention(c) (
            UnsafeMutableRawPointer, _ output: UnsafeMutableRawPointer,
            _ input: UnsafeMutableRawPointer
        ) -> UInt
    private typealias IsError = @Sendable @convention(c) (UInt) -> CUnsignedInt

    /// 2 MiB: the window up to level 8, while Codex compresses at level 3.
    private static let windowLogMax: (parameter: CInt, value: CInt) = (100, 21)
    private static let blockHeaderByteCount: UInt = 3
    private static let inputByteCount = 65_536
    /// A block at most.
    private static let outputByteCount = 131_072
    /// Frames and blocks can be empty, and one takes as long as some kilobytes: beyond so many calls each must take
    /// this many bytes on average, of both sides together.
    private static let (callLimit, bytesPerCall) = (65_536, 32)

    private let createContext: CreateContext
    private let freeContext: FreeContext
    private let setParameter: SetParameter
    private let decompressStream: DecompressStream
    private let isError: IsError

    /// The system's library; nil when it is not installed.
    static let installed = Zstandard(fileNames: fileNames)

    /// Loads the first library that exists, and keeps it loaded; nil when there is none.
    init?(fileNames: [String]) {
        guard let library = fileNames.lazy.compactMap({ dlopen($0, RTLD_NOW | RTLD_LOCAL) }).first else { return nil }
        func function<Function>(_ name: String, _: Function.Type) -> Function? {
            dlsym(library, name).map { unsafeBitCast($0, to: Function.self) }
        }
        guard let createContext = function("ZSTD_createDCtx", CreateContext.self),
            let freeContext = function("ZSTD_freeDCtx", FreeContext.self),
            let setParameter = function("ZSTD_DCtx_setParameter", SetParameter.self),
            let decompressStream = function("ZSTD_decompressStream", DecompressStream.self),
            let isError = function("ZSTD_isError", IsError.self)
        else { return nil }
        self.createContext = createContext
        self.freeContext = freeContext
        self.setParameter = setParameter
        self.decompressStream = decompressStream
        self.isError = isError
    }

    /// Passes the file's decompressed bytes to `consume`, block by block, until that returns false. A chunk may
    /// be empty.
    ///
    /// Needs at most 3 MiB of memory.
    func decompress(
        _ file: OpenFile, consume: (UnsafeRawBufferPointer) -> Bool
    ) throws(FileError) -> Outcome {
        guard let context = createContext() else {
            throw FileError(operation: "decompress", path: file.path, code: ENOMEM)
        }
        defer { _ = freeContext(context) }
        let (parameter, value) = Self.windowLogMax
        guard isError(setParameter(context, parameter, value)) == 0 else { return .invalid }
        var output = [UInt8](repeating: 0, count: Self.outputByteCount)
        var offset: Int64 = 0
        var progress = Progress()
        while true {
            let input = try file.bytes(at: offset, count: Self.inputByteCount)
            if input.isEmpty { return progress.wanted == 0 ? .complete : .truncated }
            offset += Int64(input.count)
            let end = input.withUnsafeBytes { input in
                output.withUnsafeMutableBytes { output in
                    decompress(input, context, &progress, through: output, consume)
                }
            }
            if let end { return end }
        }
    }

    /// Passes the decompressed bytes of a value, as `decompress` does those of a file.
    func decompress(
        _ bytes: UnsafeRawBufferPointer, consume: (UnsafeRawBufferPointer) -> Bool
    ) -> Outcome {
        guard let context = createContext() else { return .invalid }
        defer { _ = freeContext(context) }
        let (parameter, value) = Self.windowLogMax
        guard isError(setParameter(context, parameter, value)) == 0 else { return .invalid }
        var output = [UInt8](repeating: 0, count: Self.outputByteCount)
        var progress = Progress()
        let end = output.withUnsafeMutableBytes {
            decompress(bytes, context, &progress, through: $0, consume)
        }
        return end ?? (progress.wanted == 0 ? .complete : .truncated)
    }

    private struct Progress {
        /// How many bytes the next call can use; 0 at the end of a frame.
        var wanted: UInt = 1
        var callCount = 0
        var byteCount = 0

        var isTooSlow: Bool {
            callCount > Zstandard.callLimit + byteCount / Zstandard.bytesPerCall
        }
    }

    /// Returns nil when all of `input` has been used.
    private func decompress(
        _ input: UnsafeRawBufferPointer, _ context: UnsafeMutableRawPointer,
        _ progress: inout Progress, through output: UnsafeMutableRawBufferPointer,
        _ consume: (UnsafeRawBufferPointer) -> Bool
    ) -> Outcome? {
        // ZSTD_inBuffer and ZSTD_outBuffer: an address, a size and a position.
        var source = [UInt(bitPattern: input.baseAddress), 0, 0]
        var target = [UInt(bitPattern: output.baseAddress), UInt(output.count), 0]
        var isOutputFull = false
        while source[2] < UInt(input.count) || (isOutputFull && progress.wanted > 0) {
            // An error discards the output of its call, so no call gets more than a block, whose size
            // is wanted together with the header of the next one.
            let header = Self.blockHeaderByteCount
            let wanted = progress.wanted
            let step = wanted > header ? wanted - header : max(wanted, 1)
            let start = source[2]
            source[1] = min(UInt(input.count), source[2] + step)
            target[2] = 0
            let result = decompressStream(context, &target, &source)
            if isError(result) != 0 { return .invalid }
            progress.wanted = result
            progress.callCount += 1
            progress.byteCount += Int(source[2] - start) + Int(target[2])
            if progress.isTooSlow { return .invalid }
            isOutputFull = target[2] == target[1]
            let decompressed = UnsafeRawBufferPointer(rebasing: output[..<Int(target[2])])
            if !consume(decompressed) { return .stopped }
        }
        return nil
    }
}
