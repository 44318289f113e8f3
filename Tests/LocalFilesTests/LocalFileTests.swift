import Foundation
import LocalFiles
import Testing

@Suite("Local files")
struct LocalFileTests {
    private let directory: TemporaryDirectory
    private let file: LocalFile

    init() throws {
        directory = try TemporaryDirectory()
        file = directory.file("file")
    }

    private func content(byteLimit: Int = 1_024) throws -> String? {
        try file.read(byteLimit: byteLimit).map { String(decoding: $0.data, as: UTF8.self) }
    }

    @Test("what a user names is replaced if it is a file, through links, and written into if it is a pipe or a device")
    func saving() throws {
        let (link, pipe) = (directory.file("link"), directory.file("pipe"))
        try file.save(Data("a".utf8))
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "file")
        try link.save(Data("b".utf8))
        #expect(try content() == "b")
        #expect(try FileStatus(path: link.path, followsLinks: false)?.kind == .link)
        try #require(mkfifo(pipe.path, 0o600) == 0)
        let reader = open(pipe.path, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        try pipe.save(Data("c".utf8))
        var byte: UInt8 = 0
        #expect(read(reader, &byte, 1) == 1 && byte == UInt8(ascii: "c"))
        #expect(try FileStatus(path: pipe.path)?.kind != .file)
        #expect(throws: FileError.self) { try LocalFile(directory.path).save(Data()) }
    }

    @Test("a missing file, also in a missing directory, reads as nil")
    func missing() throws {
        #expect(try content() == nil)
        #expect(try LocalFile(directory.path + "/none/file").read(byteLimit: 9) == nil)
        #expect(try FileStatus(path: file.path) == nil)
        try file.replace(with: Data(), durability: .cached)
        #expect(try LocalFile(file.path + "/below").read(byteLimit: 9) == nil)
    }

    @Test("replacing makes a private file and leaves no temporary file", arguments: [true, false])
    func replaces(isFlushed: Bool) throws {
        let durability: LocalFile.Durability = isFlushed ? .flushed : .cached
        try file.replace(with: Data("one".utf8), durability: durability)
        #expect(try content() == "one")
        #expect(try directory.mode("file") == 0o600)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
        #expect(try file.read(byteLimit: 9)?.status.permissions == 0o644)
        try file.replace(with: Data("three".utf8), durability: durability)
        #expect(try content() == "three")
        #expect(try file.read(byteLimit: 9)?.status.permissions == 0o600)
        #expect(try directory.names == ["file"])
    }

    @Test("a file is replaced with the permissions that the writer asks for")
    func permissions() throws {
        try file.replace(with: Data(), permissions: 0o444)
        #expect(try directory.mode("file") == 0o444)
        try file.replace(with: Data("one".utf8), permissions: 0o640)
        #expect(try directory.mode("file") == 0o640)
    }

    @Test("links are resolved to the file that they lead to, and nothing else is")
    func resolving() throws {
        #expect(try file.resolvingLinks() == file)
        try file.replace(with: Data())
        #expect(try file.resolvingLinks() == file)
        let (first, second) = (directory.file("first"), directory.file("second"))
        try FileManager.default.createSymbolicLink(atPath: first.path, withDestinationPath: "second")
        #expect(throws: FileError(operation: "follow the link", path: first.path, code: ENOENT)) {
            try first.resolvingLinks()
        }
        try FileManager.default.createSymbolicLink(atPath: second.path, withDestinationPath: file.path)
        #expect(try FileStatus(path: first.resolvingLinks().path, followsLinks: false) == FileStatus(path: file.path))
    }

    @Test("a large file is written and read whole")
    func large() throws {
        let data = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try file.replace(with: data, durability: .cached)
        #expect(try file.read(byteLimit: data.count)?.data == data)
    }

    @Test("the status of a file changes when it is replaced")
    func statusOfContent() throws {
        try file.replace(with: Data("one".utf8))
        let first = try #require(try file.read(byteLimit: 9))
        #expect(try FileStatus(path: file.path) == first.status)
        #expect(first.status.byteCount == 3)
        try file.replace(with: Data("two".utf8))
        #expect(try FileStatus(path: file.path) != first.status)
    }

    @Test("the limit of a read includes its last byte")
    func bounded() throws {
        try file.replace(with: Data("12345".utf8))
        #expect(try content(byteLimit: 5) == "12345")
        let error = #expect(throws: FileError.self) { try file.read(byteLimit: 4) }
        #expect(error?.cause == .tooLarge(byteLimit: 4))
        #expect(error?.description == "cannot read \(file.path): larger than 4 bytes")
        #expect(error?.isOutOfSpace == false)
    }

    @Test("directories and pipes are refused, not waited for")
    func otherKinds() throws {
        let pipe = directory.file("pipe")
        try #require(mkfifo(pipe.path, 0o600) == 0)
        for file in [pipe, LocalFile(directory.path)] {
            let error = #expect(throws: FileError.self) { try file.read(byteLimit: 9) }
            #expect(error?.cause == .notAFile)
        }
    }

    @Test("links are followed unless they are refused; replacing replaces the link")
    func links() throws {
        let target = directory.file("target")
        try target.replace(with: Data("target".utf8))
        try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "target")
        #expect(try content() == "target")
        #expect(try FileStatus(path: file.path)?.kind == .file)
        #expect(try FileStatus(path: file.path, followsLinks: false)?.kind == .link)
        let error = #expect(throws: FileError.self) {
            try file.read(byteLimit: 9, followsLinks: false)
        }
        #expect(error?.code == ELOOP)
        try file.replace(with: Data("file".utf8))
        #expect(try target.read(byteLimit: 9)?.data == Data("target".utf8))
        #expect(try FileStatus(path: file.path, followsLinks: false)?.kind == .file)
    }

    @Test("a failed replacement keeps the former file and leaves no temporary file")
    func failedReplacement() throws {
        try LocalDirectory(file.path).create()
        let taken = #expect(throws: FileError.self) { try file.replace(with: Data()) }
        #expect(taken?.code == EISDIR)
        #expect(taken?.description == "cannot replace \(file.path): is a directory")
        #expect(try directory.names == ["file"])
        let absent = directory.file("none/file")
        let error = #expect(throws: FileError.self) { try absent.replace(with: Data()) }
        #expect(error?.isMissing == true)
        #expect(error?.path == absent.path)
    }

    @Test("abandoned temporary files are removed, and neither those in use nor any other file")
    func abandoned() throws {
        let names = [".ubiquity-1.tmp", ".other.tmp", "ubiquity-1.tmp"]
        for name in names {
            try directory.file("seed").replace(with: Data(name.utf8));
            try directory.file("seed").rename(to: directory.path + "/" + name)
        }
        try file.write(replacing: false) { append throws(FileError) in
            try append(Data("a".utf8))
            try LocalDirectory(directory.path).removeAbandonedFiles()
            try append(Data("b".utf8))
        }
        #expect(try content() == "ab")
        #expect(try directory.names.sorted() == [".other.tmp", "file", "ubiquity-1.tmp"])
    }

    @Test("creating does not replace an existing file")
    func creates() throws {
        #expect(try file.create(with: Data("first".utf8)))
        #expect(try !file.create(with: Data("second".utf8)))
        #expect(try content() == "first")
        #expect(try directory.mode("file") == 0o600)
        #expect(try directory.names == ["file"])
    }

    @Test("of concurrent creators one succeeds, and all read its bytes")
    func createsOnce() async throws {
        let outcomes = try await withThrowingTaskGroup(of: (Bool, Data?).self) { [file] group in
            for number in 0..<16 {
                group.addTask {
                    let isCreated = try file.create(with: Data("\(number)".utf8), durability: .cached)
                    return (isCreated, try file.read(byteLimit: 9)?.data)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count { $0.0 } == 1)
        #expect(Set(outcomes.map(\.1)).count == 1)
        #expect(try directory.names == ["file"])
    }

    @Test("removing a missing file is not an error")
    func removes() throws {
        try file.replace(with: Data())
        try file.remove()
        #expect(try directory.names.isEmpty)
        try file.remove()
        #expect(throws: FileError.self) { try LocalFile(directory.path).remove() }
    }

    @Test("an open file is read at any offset, up to its end")
    func openFile() throws {
        try file.replace(with: Data("0123456789".utf8))
        try file.withOpen { open throws(FileError) in
            #expect(try open.bytes(at: 4, count: 3) == Array("456".utf8))
            #expect(try open.bytes(at: 8, count: 9) == Array("89".utf8))
            #expect(try open.bytes(at: 10, count: 1).isEmpty)
            #expect(open.status.byteCount == 10)
        }
        try file.remove()
        let error = #expect(throws: FileError.self) {
            try file.withOpen { open throws(FileError) in _ = try open.bytes(at: 0, count: 1) }
        }
        #expect(error?.isMissing == true)
    }

    @Test("an error names the operation, the path and the cause")
    func errors() {
        func error(_ code: Int32) -> FileError { FileError(operation: "write", path: "/data/file", code: code) }
        #expect(error(ENOSPC).description == "cannot write /data/file: no space left on device")
        #expect([ENOSPC, EDQUOT, EFBIG].allSatisfy { error($0).isOutOfSpace })
        #expect([EIO, EACCES, ENOENT].allSatisfy { !error($0).isOutOfSpace })
        #expect(error(EACCES).isPermissionDenied && error(EPERM).isPermissionDenied)
        #expect(error(ENOENT).isMissing && error(ENOTDIR).isMissing && !error(EACCES).isMissing)
    }
}
