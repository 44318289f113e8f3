#if os(Linux) || os(Android)
    import Foundation
    import LocalFiles
    import Testing

    @testable import UsagePusher

    @Suite("Watching without enough inotify", .timeLimit(.minutes(5)))
    struct FileWatcherFallbackTests {
        private let directory: WatchedDirectory

        init() throws { directory = try WatchedDirectory() }

        @Test("when inotify is unavailable, files are compared and the reason is reported")
        func refused() async throws {
            let tree = WatchedPath(directory.at("sessions"), isRecursive: true)
            let later = WatchedPath(directory.at("later.json"))
            try directory.createDirectory(directory.at("sessions/a"))
            let watcher = SystemFileWatcher(limits: .quick) { () throws(FileError) in
                throw FileError(operation: "open", path: "inotify", code: EMFILE)
            }
            try await directory.watch([tree, later], with: watcher)
            #expect(directory.degradations.count == 1)
            #expect(directory.degradations[0].contains("max_user_instances"))
            try await directory.write("x", to: directory.at("sessions/a/log"), changing: tree)
            try await directory.write("x", to: later.path, changing: later)
        }

        /// 20 directories, the greater number the later modified, and room to watch 12 directories.
        private func watchTooMany(_ directory: WatchedDirectory, pollInterval: Duration) async throws -> WatchedPath {
            let tree = WatchedPath(directory.at("sessions"), isRecursive: true)
            for number in 0..<20 {
                try directory.createDirectory(directory.at("sessions/\(number)"))
                try directory.setModified(
                    Date(timeIntervalSince1970: 1e9 + Double(number)),
                    directory.at("sessions/\(number)"))
            }
            var limits = WatchLimits()
            // The directories on the way, the tree, and some of the 20.
            limits.directoryCount = WatchPath.components(of: tree.path).count + 4
            limits.pollInterval = pollInterval
            try await directory.watch([tree], with: SystemFileWatcher(limits: limits))
            let reason = try #require(directory.degradations.first)
            try #require(reason.contains("more than \(limits.directoryCount) directories"))
            #expect(directory.degradations.count == 1)
            return tree
        }

        @Test(
            "of more directories than can be watched, the rest is polled",
            .enabled(if: InotifyInstances.isAvailable, InotifyInstances.comment))
        func tooMany() async throws {
            let tree = try await watchTooMany(directory, pollInterval: .milliseconds(20))
            for number in 0..<20 {
                try await directory.write("x", to: directory.at("sessions/\(number)/log"), changing: tree)
                try await directory.write("x", to: directory.at("sessions/\(number)/log"), changing: tree)
            }
        }

        @Test(
            "of more directories than can be watched, the last modified are watched",
            .enabled(if: InotifyInstances.isAvailable, InotifyInstances.comment))
        func newestWatched() async throws {
            let tree = try await watchTooMany(directory, pollInterval: .seconds(86_400))
            for number in 17..<20 {
                try await directory.write("x", to: directory.at("sessions/\(number)/log"), changing: tree)
            }
            try directory.write("x", to: directory.at("sessions/0/log"))
            #expect(try await directory.settle() == [])
        }

        @Test(
            "dropping the events closes the instance",
            .enabled(if: InotifyInstances.isAvailable, InotifyInstances.comment),
            arguments: [true, false])
        func closing(byCancelling: Bool) async throws {
            let path = directory.path
            let (closed, didClose) = AsyncStream<Void>.makeStream()
            let watcher = SystemFileWatcher(limits: .quick) { () throws(FileError) in
                try Inotify(didClose: { didClose.finish() })
            }
            if byCancelling {
                let (started, didStart) = AsyncStream<Void>.makeStream()
                let task = Task {
                    for await event in watcher.events(for: [WatchedPath(path)]) where event == .started {
                        didStart.finish()
                    }
                }
                for await _ in started {}
                task.cancel()
                await task.value
            } else {
                for await event in watcher.events(for: [WatchedPath(path)]) where event == .started {
                    break
                }
            }
            for await _ in closed {}
        }
    }
#endif
