#if os(Linux) || os(Android)
    import Foundation
    import Testing

    @testable import UsagePusher

    @Suite("Watching without enough inotify", .timeLimit(.minutes(5)))
    struct FileWatcherFallbackTests {
        @Test("a refused instance is told in words, and files are compared instead")
        func refused() async throws {
            let folder = try WatchedFolder()
            let tree = WatchedPath(folder.at("sessions"), isRecursive: true)
            let later = WatchedPath(folder.at("later.json"))
            try folder.makeFolder(folder.at("sessions/a"))
            let watcher = SystemFileWatcher(limits: .quick) { .refused(EMFILE) }
            try await folder.watch([tree, later], with: watcher)
            #expect(folder.degradations.count == 1)
            #expect(folder.degradations[0].contains("max_user_instances"))
            try folder.write("x", to: folder.at("sessions/a/log"))
            await folder.waitForChange(of: tree)
            try folder.write("x", to: later.path)
            await folder.waitForChange(of: later)
        }

        @Test(
            "folders beyond the limit are compared",
            .enabled(if: WatchingRoom.isThere, WatchingRoom.comment))
        func tooMany() async throws {
            let folder = try WatchedFolder()
            let tree = WatchedPath(folder.at("sessions"), isRecursive: true)
            for number in 0..<20 { try folder.makeFolder(folder.at("sessions/\(number)")) }
            var limits = WatchLimits.quick
            limits.folderCount = 12
            try await folder.watch([tree], with: SystemFileWatcher(limits: limits))
            #expect(folder.degradations.count == 1)
            #expect(folder.degradations.first?.contains("more than 12 folders") == true)
            for number in 0..<20 {
                try folder.write("x", to: folder.at("sessions/\(number)/log"))
                await folder.waitForChange(of: tree)
            }
        }

        @Test(
            "dropping the events closes the instance",
            .enabled(if: WatchingRoom.isThere, WatchingRoom.comment), arguments: [true, false])
        func closing(byCancelling: Bool) async throws {
            let folder = try WatchedFolder()
            let path = folder.path
            let (closed, didClose) = AsyncStream<Void>.makeStream()
            let watcher = SystemFileWatcher(limits: .quick) {
                Inotify.open(didClose: { didClose.finish() })
            }
            if byCancelling {
                let (started, didStart) = AsyncStream<Void>.makeStream()
                let task = Task {
                    for await event in watcher.events(for: [WatchedPath(path)])
                    where event == .started {
                        didStart.finish()
                    }
                }
                for await _ in started {}
                task.cancel()
                await task.value
            } else {
                for await event in watcher.events(for: [WatchedPath(path)]) where event == .started
                {
                    break
                }
            }
            for await _ in closed {}
        }
    }
#endif
