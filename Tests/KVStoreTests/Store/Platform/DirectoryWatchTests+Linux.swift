#if os(Linux) || os(Android)
    import Dispatch
    import Foundation
    import Testing
    import TestSupport

    @testable import KVStore

    @Suite("What a watch of a folder holds", .timeLimit(.minutes(5)))
    struct DirectoryWatchTests {
        private let queue = DispatchQueue(label: "ubiquity.test.watch")

        /// Descriptors of this process that watch the folder. Other tests have watches of their own.
        private func descriptorCount(watching folder: TemporaryDirectory) throws -> Int {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path)
            let inode = try #require(attributes[.systemFileNumber] as? NSNumber).uint64Value
            let mark = " ino:\(String(inode, radix: 16)) "
            let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fdinfo")
            return names.count { name in
                let file = "/proc/self/fdinfo/" + name
                guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
                    return false
                }
                return text.split(separator: "\n").contains {
                    $0.hasPrefix("inotify ") && $0.contains(mark)
                }
            }
        }

        @Test(
            "a watch that is let go closes its descriptor, cancelled or not",
            arguments: [false, true])
        func lettingGo(isCancelled: Bool) async throws {
            let folder = try TemporaryDirectory()
            var watches = (0..<5).map { _ in
                System.watch(directory: folder.path, queue: queue) {}
            }
            #expect(try descriptorCount(watching: folder) == 5)
            if isCancelled { for watch in watches { watch.cancel() } }
            watches = []
            while try descriptorCount(watching: folder) > 0 {
                try Task.checkCancellation()
                await Task.yield()
            }
        }

        @Test("a watch that is held tells of a write")
        func telling() async throws {
            let folder = try TemporaryDirectory()
            try folder.write([], to: "log")
            let (changes, change) = AsyncStream<Void>.makeStream()
            let watch = System.watch(directory: folder.path, queue: queue) { change.yield() }
            let file = try FileHandle(forWritingTo: URL(filePath: folder.file("log")))
            try file.write(contentsOf: Data([1]))
            try file.close()
            for await _ in changes { break }
            watch.cancel()
        }
    }
#endif
