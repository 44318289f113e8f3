#if os(Linux) || os(Android)
    import Dispatch
    import Foundation
    import KVStoreLog
    import TestSupport
    import Testing

    @testable import KVStoreEssentials

    @Suite("Directory watch", .timeLimit(.minutes(5)))
    struct DirectoryWatchTests {
        private let queue = DispatchQueue(label: "ubiquity.test.watch")

        /// Descriptors of this process that watch the directory; other tests have watches of their own.
        private func descriptorCount(watching directory: TemporaryDirectory) throws -> Int {
            let attributes = try FileManager.default.attributesOfItem(atPath: directory.path)
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
            "a released watch closes its descriptor, cancelled or not",
            arguments: [false, true])
        func release(isCancelled: Bool) async throws {
            let directory = try TemporaryDirectory()
            var watches = (0..<5).map { _ in
                System.watch(directory: directory.path, queue: queue) {}
            }
            #expect(try descriptorCount(watching: directory) == 5)
            if isCancelled { for watch in watches { watch.cancel() } }
            watches = []
            try await wait { try descriptorCount(watching: directory) == 0 }
        }

        @Test("a watch reports a write")
        func write() async throws {
            let directory = try TemporaryDirectory()
            try directory.write([], to: "log")
            let (changes, change) = AsyncStream<Void>.makeStream()
            let watch = System.watch(directory: directory.path, queue: queue) { change.yield() }
            let file = try FileHandle(forWritingTo: URL(filePath: directory.file("log")))
            try file.write(contentsOf: Data([1]))
            try file.close()
            for await _ in changes { break }
            watch.cancel()
        }
    }
#endif
