@testable import clip
import Foundation
import KVStoreHTTP
import TestSupport
import Testing

@Suite("Following the copies of other machines", .timeLimit(.minutes(1)), .sessions([.xvfb]))
struct FollowTests {
    @Test("the newest copy of another machine is put into the clipboard, and counted once")
    func following() async throws {
        let session = try #require(SessionTrait.session)
        try await ClipMachines.with { machines in
            var laptop = machines.laptop.home
            laptop.variables = session.home.variables
            try await machines.laptop.clip("settings", "follow", "on")
            let store = try HistoryStore(ClipFiles(environment: StoreEnvironment(home: laptop.path)), isWatched: true)
            defer { store.close() }
            let collector = try RunningProgram(laptop, "clip", ["collect", "--backend", "x11"])
            for await line in collector.errors where line.contains("collecting") { break }
            for text in ["first", "second"] {
                let changes = store.changes
                let former = store.state.copyOuts
                try await machines.desk.add(text)
                // The state has what was put into the clipboard.
                for await _ in changes where store.state.copyOuts != former { break }
                let pasted = try await laptop.shell(
                    "until xclip -selection clipboard -o | grep '^\(text)$'; do :; done")
                #expect(pasted.text == text + "\n")
            }
            collector.send(SIGTERM)
            #expect(await collector.status() == 0)
            #expect(try await machines.laptop.list() == ["second", "first"])
        }
    }
}
