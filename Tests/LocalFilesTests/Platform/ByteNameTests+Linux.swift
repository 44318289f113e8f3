#if os(Linux) || os(Android)
    import Foundation
    import LocalFiles
    import Testing

    /// Names of any bytes; Apple's file systems have none that are not UTF-8.
    @Suite("File names that are not UTF-8")
    struct ByteNameTests {
        @Test("they are listed, inspected and read")
        func read() throws {
            let directory = try TemporaryDirectory()
            let bytes = Array(directory.path.utf8) + [0x2F, 0x66, 0xFF, 0xE9]
            #expect(mkdir(bytes.map(CChar.init(bitPattern:)) + [0], 0o700) == 0)
            let file = bytes + [0x2F, 0x80]
            let descriptor = open(file.map(CChar.init(bitPattern:)) + [0], O_CREAT | O_WRONLY, 0o600)
            #expect(Foundation.write(descriptor, "x", 1) == 1)
            close(descriptor)
            #expect(symlink("\u{10FF80}", directory.path + "/link") == 0)

            let names = try LocalDirectory(directory.path).entries().entries.map(\.name).sorted()
            #expect(names.count == 2)
            let folder = try #require(names.first { $0.hasPrefix("f") })
            let inner = LocalDirectory(directory.path + "/" + folder)
            let path = try inner.path + "/" + #require(inner.entries().entries.first).name
            #expect(try FileStatus(path: path)?.byteCount == 1)
            #expect(try LocalFile(path).read(byteLimit: 10)?.data == Data("x".utf8))
            let target = try directory.file("link").linkTarget()
            #expect(PathText.encode(target) == Array("\u{10FF80}".utf8))
        }
    }
#endif
