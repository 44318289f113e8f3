import Essentials
import LocalFiles

/// A file system for SQLite that consists of a pass's open files: a database and perhaps its write-ahead log.
///
/// It opens nothing, takes no lock, shares no memory and cannot write, create or remove: whatever SQLite decides to do,
/// the tool does not notice it. Registered as long as it exists; it must outlive its connections.
///
/// The structures are those of sqlite3.h: sqlite3_vfs and sqlite3_io_methods, version 1, which has no shared memory.
final class SQLiteFileSystem {
    private typealias Address = UnsafeMutableRawPointer
    private typealias Text = UnsafePointer<CChar>

    private struct FileSystem {
        typealias Ignored = @convention(c) (Address?) -> Void
        typealias Open = @convention(c) (Address?, Text?, Address?, CInt, UnsafeMutablePointer<CInt>?) -> CInt
        typealias Delete = @convention(c) (Address?, Text?, CInt) -> CInt
        typealias Access = @convention(c) (Address?, Text?, CInt, UnsafeMutablePointer<CInt>?) -> CInt
        typealias FullPath = @convention(c) (Address?, Text?, CInt, UnsafeMutablePointer<CChar>?) -> CInt
        typealias LoadLibrary = @convention(c) (Address?, Text?) -> Address?
        typealias LoadError = @convention(c) (Address?, CInt, UnsafeMutablePointer<CChar>?) -> Void
        typealias FindSymbol = @convention(c) (Address?, Address?, Text?) -> Address?
        typealias Unload = @convention(c) (Address?, Address?) -> Void
        typealias Randomness = @convention(c) (Address?, CInt, UnsafeMutablePointer<CChar>?) -> CInt
        typealias Sleep = @convention(c) (Address?, CInt) -> CInt
        typealias CurrentTime = @convention(c) (Address?, UnsafeMutablePointer<Double>?) -> CInt

        var version: CInt = 1
        var fileByteCount = CInt(MemoryLayout<File>.stride)
        var pathByteLimit: CInt = 64
        var next: Address?
        var name: Text?
        /// The pass.
        var context: Address?
        var open: Open = { openFile($0, $2, $3, $4) }
        var delete: Delete = { _, _, _ in SQLiteCode.readOnly }
        var access: Access = { exists($0, $1, $3) }
        var fullPath: FullPath = { copy($1, $2, $3) }
        var loadLibrary: LoadLibrary = { _, _ in nil }
        var loadError: LoadError = { _, _, _ in }
        var findSymbol: FindSymbol = { _, _, _ in nil }
        var unload: Unload = { _, _ in }
        var randomness: Randomness = { _, _, _ in 0 }
        var sleep: Sleep = { _, _ in 0 }
        var currentTime: CurrentTime = { _, result in
            result?.pointee = 2_440_587.5
            return SQLiteCode.ok
        }
        var lastError: Sleep = { _, _ in 0 }
    }

    private struct FileMethods {
        typealias Call = @convention(c) (Address?) -> CInt
        typealias Read = @convention(c) (Address?, Address?, CInt, Int64) -> CInt
        typealias Write = @convention(c) (Address?, UnsafeRawPointer?, CInt, Int64) -> CInt
        typealias Truncate = @convention(c) (Address?, Int64) -> CInt
        typealias WithLevel = @convention(c) (Address?, CInt) -> CInt
        typealias Size = @convention(c) (Address?, UnsafeMutablePointer<Int64>?) -> CInt
        typealias CheckLock = @convention(c) (Address?, UnsafeMutablePointer<CInt>?) -> CInt
        typealias Control = @convention(c) (Address?, CInt, Address?) -> CInt

        var version: CInt = 1
        var close: Call = { _ in SQLiteCode.ok }
        var read: Read = { SQLiteFileSystem.read($0, $1, $2, $3) }
        var write: Write = { _, _, _, _ in SQLiteCode.readOnly }
        var truncate: Truncate = { _, _ in SQLiteCode.readOnly }
        var sync: WithLevel = { _, _ in SQLiteCode.ok }
        var fileSize: Size = { size($0, $1) }
        var lock: WithLevel = { _, _ in SQLiteCode.ok }
        var unlock: WithLevel = { _, _ in SQLiteCode.ok }
        var checkReservedLock: CheckLock = { _, result in
            result?.pointee = 0
            return SQLiteCode.ok
        }
        var control: Control = { _, _, _ in SQLiteCode.notFound }
        var sectorSize: Call = { _ in 4_096 }
        // Without a log nothing but the database file counts.
        var characteristics: Call = { file in
            SQLiteFileSystem.file(file)?.pass.log == nil ? SQLiteCode.immutable : 0
        }
    }

    /// As SQLite allocates it.
    private struct File {
        var methods: UnsafePointer<FileMethods>?
        var pass: Unmanaged<SQLitePass>
        var isLog: Bool
    }

    let name: String
    private let library: SQLiteLibrary
    private let pass: SQLitePass
    private let table: UnsafeMutablePointer<FileSystem>
    private let nameBytes: UnsafeMutablePointer<CChar>

    /// Nil when SQLite refuses to register it.
    init?(_ pass: SQLitePass, in library: SQLiteLibrary) {
        self.pass = pass
        self.library = library
        table = .allocate(capacity: 1)
        name = "usage-push-\(UInt(bitPattern: table))"
        nameBytes = name.withCString { strdup($0) }
        table.initialize(to: FileSystem(name: nameBytes, context: Unmanaged.passUnretained(pass).toOpaque()))
        guard library.registerVFS(table, 0) == SQLiteCode.ok else { return nil }
    }

    deinit {
        _ = library.unregisterVFS(table)
        table.deinitialize(count: 1)
        table.deallocate()
        free(nameBytes)
    }

    nonisolated(unsafe) private static let methods: UnsafePointer<FileMethods> = {
        let methods = UnsafeMutablePointer<FileMethods>.allocate(capacity: 1)
        methods.initialize(to: FileMethods())
        return UnsafePointer(methods)
    }()

    private static func pass(_ fileSystem: Address?) -> Unmanaged<SQLitePass>? {
        fileSystem?.assumingMemoryBound(to: FileSystem.self).pointee.context.map {
            Unmanaged.fromOpaque($0)
        }
    }

    private static func file(_ file: Address?) -> (pass: SQLitePass, file: OpenFile)? {
        guard let file = file?.assumingMemoryBound(to: File.self).pointee else { return nil }
        let pass = file.pass.takeUnretainedValue()
        return (file.isLog ? pass.log : pass.database).map { (pass, $0) }
    }

    private static func openFile(
        _ fileSystem: Address?, _ file: Address?, _ flags: CInt,
        _ result: UnsafeMutablePointer<CInt>?
    ) -> CInt {
        guard let file = file?.assumingMemoryBound(to: File.self) else {
            return SQLiteCode.cannotOpen
        }
        // SQLite closes what has methods, even if it could not be opened.
        file.pointee.methods = nil
        guard let pass = pass(fileSystem) else { return SQLiteCode.cannotOpen }
        let isLog = flags & SQLiteCode.openLog != 0
        guard isLog || flags & SQLiteCode.openMainDatabase != 0,
            !isLog || pass.takeUnretainedValue().log != nil
        else { return SQLiteCode.cannotOpen }
        file.initialize(to: File(methods: methods, pass: pass, isLog: isLog))
        result?.pointee = (flags & ~0x6) | SQLiteCode.openReadOnly
        return SQLiteCode.ok
    }

    /// There is no other file than the log.
    private static func exists(
        _ fileSystem: Address?, _ name: Text?, _ result: UnsafeMutablePointer<CInt>?
    ) -> CInt {
        let hasLog = pass(fileSystem)?.takeUnretainedValue().log != nil
        let isLog = name.map { String(cString: $0).hasSuffix("-wal") } ?? false
        result?.pointee = hasLog && isLog ? 1 : 0
        return SQLiteCode.ok
    }

    private static func copy(
        _ path: Text?, _ count: CInt, _ result: UnsafeMutablePointer<CChar>?
    ) -> CInt {
        guard let path, let result, strlen(path) < Int(count) else { return SQLiteCode.cannotOpen }
        strcpy(result, path)
        return SQLiteCode.ok
    }

    private static func read(
        _ address: Address?, _ buffer: Address?, _ count: CInt, _ offset: Int64
    ) -> CInt {
        guard let (pass, file) = file(address), let buffer, count >= 0, offset >= 0 else {
            return SQLiteCode.ioError
        }
        let bytes = UnsafeMutableRawBufferPointer(start: buffer, count: Int(count))
        guard let got = pass.read(file, into: bytes, at: offset) else { return SQLiteCode.ioError }
        if got == bytes.count { return SQLiteCode.ok }
        memset(buffer + got, 0, bytes.count - got)
        return SQLiteCode.shortRead
    }

    private static func size(_ address: Address?, _ result: UnsafeMutablePointer<Int64>?) -> CInt {
        guard let (_, file) = file(address), let status = try? file.currentStatus() else {
            return SQLiteCode.ioError
        }
        result?.pointee = status.byteCount
        return SQLiteCode.ok
    }
}
