#if os(Linux) || os(Android)
    import Foundation
    import LocalFiles
    import Testing

    @testable import UsagePusher

    /// Names of any bytes; Apple's file systems have none that are not UTF-8.
    @Suite("Watching file names that are not UTF-8", .timeLimit(.minutes(5)))
    struct ByteNameTests {
        /// The path of a name of bytes in the directory.
        private func path(_ bytes: [UInt8], in directory: String) -> String {
            WatchPath.join(directory, PathText.decode(bytes))
        }

        private func createDirectory(_ path: String) throws {
            try #require(PathText.withCString(path) { mkdir($0, 0o700) } == 0)
        }

        private func append(_ text: String, to path: String) throws {
            let descriptor = PathText.withCString(path) {
                open($0, O_CREAT | O_WRONLY | O_APPEND, 0o600)
            }
            try #require(Foundation.write(descriptor, text, text.utf8.count) == text.utf8.count)
            close(descriptor)
        }

        @Test("files in such directories are watched, old and new", arguments: [8_192, 0])
        func watched(directoryCount: Int) async throws {
            let directory = try WatchedDirectory()
            let tree = WatchedPath(directory.at("sessions"), isRecursive: true)
            let old = path([0x6F, 0xFF], in: tree.path)
            try directory.createDirectory(tree.path)
            try createDirectory(old)
            try append("1", to: path([0x80], in: old))
            var limits = WatchLimits.quick
            limits.directoryCount = directoryCount
            try await directory.watch([tree], with: SystemFileWatcher(limits: limits))
            try append("2", to: path([0x80], in: old))
            try await directory.waitUntilSettled(afterChangeOf: tree)
            let new = path([0xC3, 0x28], in: tree.path)
            try createDirectory(new)
            try await directory.waitUntilSettled(afterChangeOf: tree)
            try append("1", to: path([0xF4, 0x8F, 0xBE, 0x80], in: new))
            await directory.waitForChange(of: tree)
        }

        @Test("a walk finds files of such names, and their paths can be opened")
        func walked() throws {
            let directory = try WatchedDirectory()
            let inner = path([0xE9], in: directory.path)
            try createDirectory(inner)
            try append("hello", to: path([0xFF] + Array(".jsonl".utf8), in: inner))
            try append("hello", to: WatchPath.join(inner, "\u{301}.jsonl"))
            var budget = ScanBudget()
            let walk = DirectoryWalk(roots: [directory.path], budget: &budget) {
                $0.hasSuffix(".jsonl")
            }
            #expect(walk.errors.isEmpty)
            #expect(walk.files.count == 2)
            #expect(walk.files.allSatisfy { $0.name.unicodeScalars.count == 7 })
            for file in walk.files {
                let content = try LocalFile(file.path).read(byteLimit: 10)
                #expect(content?.data == Data("hello".utf8))
            }
        }
    }
#endif
