import StoreTestSupport

#if os(Linux) || os(Android)
    import Dispatch
    import Foundation
    import KVStoreLog
    import Testing

    @testable import KVStoreEssentials

    @Suite("Directory watch", .timeLimit(.minutes(5)))
    struct DirectoryWatchTests {
        private let queue = DispatchQueue(label: "ubiquity.test.watch")

        /// The watches of the directory, and the inotify instances of this process.
        private func inotify(watching directory: TemporaryDirectory) throws -> (watches: Int, instances: Int) {
            let attributes = try FileManager.default.attributesOfItem(atPath: directory.path)
            let inode = try #require(attributes[.systemFileNumber] as? NSNumber).uint64Value
            let mark = " ino:\(String(inode, radix: 16)) "
            let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fdinfo")
            let watches = names.map { name -> [Substring] in
                let file = "/proc/self/fdinfo/" + name
                let text = try? String(contentsOfFile: file, encoding: .utf8)
                return text?.split(separator: "\n").filter { $0.hasPrefix("inotify ") } ?? []
            }
            return (watches.joined().count { $0.contains(mark) }, watches.count { !$0.isEmpty })
        }

        @Test("all watches share one inotify instance, and those of a directory one watch of it")
        func sharing() throws {
            let directories = try (0..<200).map { _ in try TemporaryDirectory() }
            let watches = (directories + directories).map {
                System.watch(directory: $0.path, queue: queue) {}
            }
            for directory in directories {
                #expect(try inotify(watching: directory) == (1, 1))
            }
            for watch in watches { watch.cancel() }
        }

        @Test("a released watch is ended, cancelled or not", arguments: [false, true])
        func release(isCancelled: Bool) async throws {
            let directory = try TemporaryDirectory()
            var watches = (0..<5).map { _ in
                System.watch(directory: directory.path, queue: queue) {}
            }
            #expect(try inotify(watching: directory).watches == 1)
            if isCancelled { for watch in watches { watch.cancel() } }
            watches.removeLast()
            #expect(try inotify(watching: directory).watches == (isCancelled ? 0 : 1))
            watches = []
            #expect(try inotify(watching: directory).watches == 0)
        }

        @Test("each watch of a directory reports a write, and no watch of another one")
        func write() async throws {
            let directory = try TemporaryDirectory()
            let other = try TemporaryDirectory()
            try directory.write([], to: "log")
            let (changes, change) = AsyncStream<Int>.makeStream()
            let watches = [directory, other, directory].enumerated().map { index, directory in
                System.watch(directory: directory.path, queue: queue) { change.yield(index) }
            }
            let file = try FileHandle(forWritingTo: URL(filePath: directory.file("log")))
            try file.write(contentsOf: Data([1]))
            try file.close()
            var reported: Set<Int> = []
            for await index in changes where reported.insert(index).inserted {
                if reported.count == 2 { break }
            }
            #expect(reported == [0, 2])
            for watch in watches { watch.cancel() }
        }
    }
#endif
