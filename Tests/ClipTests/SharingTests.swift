@testable import clip
import Foundation
import KVStoreHTTP
import StoreTestSupport
import TestSupport
import Testing

@Suite("A history that machines share", .timeLimit(.minutes(5)))
struct SharingTests {
    @Test("a copy of one machine is in the list of the other, and in no file of the daemon")
    func sharing() async throws {
        try await ClipMachines.with { machines in
            let (desk, laptop) = (machines.desk, machines.laptop)
            try await desk.add("milk and honey")
            #expect(try await laptop.list() == ["milk and honey"])
            #expect(try await laptop.clip("get") == "milk and honey")
            try await laptop.add("bread")
            #expect(try await desk.list() == ["bread", "milk and honey"])
            let log = await machines.daemon.stop()
            let files = FileManager.default.enumerator(atPath: machines.daemon.path(""))
            for case let file as String in try #require(files) {
                let bytes = FileManager.default.contents(atPath: machines.daemon.path(file)) ?? Data()
                for secret in ["milk", "bread"] {
                    #expect(bytes.range(of: Data(secret.utf8)) == nil && !log.contains(secret))
                }
            }
        }
    }

    @Test("what both machines have before they share it, both have afterwards, each item once")
    func uniting() async throws {
        try await ClipMachines.with(sharing: false) { machines in
            let (desk, laptop) = (machines.desk, machines.laptop)
            for text in ["desk", "both"] { try await desk.add(text) }
            for text in ["laptop", "both"] { try await laptop.add(text) }
            for machine in [desk, laptop] { try await machine.clip("sync", "on", "--yes") }
            let list = ["both ×2", "laptop", "desk"]
            #expect(try await laptop.list().sorted() == list.sorted())
            #expect(try await desk.list() == laptop.list())
        }
    }

    @Test("what machines do while they are apart is all there when they meet again")
    func offline() async throws {
        try await ClipMachines.with { machines in
            let (desk, laptop) = (machines.desk, machines.laptop)
            for text in ["same", "old", "gone"] { try await desk.add(text) }
            #expect(try await laptop.list() == ["gone", "old", "same"])
            await machines.daemon.stop()

            let refused = try await desk.outcome("add", input: "same")
            #expect(refused.status == 0 && refused.errors.contains("not yet shared"))
            try await desk.clip("pin", id(of: "old", desk), "b")
            try await desk.add("from desk")
            try await laptop.add("same")
            try await laptop.add("same")
            let list = try await laptop.outcome("list")
            #expect(list.status == 0 && list.errors.contains("showing what this machine has"))
            try await laptop.clip("delete", id(of: "gone", laptop))

            let again = try await PairedDaemon(machines.daemon.home, port: machines.daemon.port)
            try await desk.clip("sync")
            try await laptop.clip("sync")
            // Who has been overwritten adds what it knows.
            try await desk.clip("sync")
            let expected = ["from desk", "old [b]", "same ×4"]
            let found = try await laptop.list()
            #expect(found.sorted() == expected)
            #expect(try await desk.list() == found)
            await again.stop()
        }
    }

    @Test("what one machine removes goes everywhere, and pins stay unless they are meant too")
    func removal() async throws {
        try await ClipMachines.with { machines in
            let (desk, laptop) = (machines.desk, machines.laptop)
            for text in ["one", "two", "three"] { try await desk.add(text) }
            #expect(try await laptop.list().count == 3)
            try await laptop.clip("pin", "1", "c")
            try await laptop.clip("delete", "2")
            #expect(try await desk.list() == ["three [c]", "one"])
            try await desk.clip("clear", "--yes")
            #expect(try await laptop.list() == ["three [c]"])
            try await desk.clip("clear", "--all", "--yes")
            #expect(try await laptop.list().isEmpty)
        }
    }

    @Test("without an account or a content key it is not shared, and the next step is said")
    func missing() async throws {
        try await ClipMachine.with { machine in
            try await machine.add("mine")
            let alone = try await machine.outcome("sync", "on", "--yes")
            #expect(alone.status == 77 && alone.errors.contains("ubq join"), "\(alone)")
            #expect(try await machine.outcome("sync").status == 78)
        }
        let homes = try (0..<2).map { _ in try TemporaryHome() }
        defer { for home in homes { home.remove() } }
        let daemon = try await PairedDaemon(homes[0])
        let machine = ClipMachine(home: homes[1])
        try await machine.kvs("join", daemon.pair())
        let keyless = try await machine.outcome("sync", "on", "--yes")
        #expect(keyless.status == 78 && keyless.errors.contains("kvs seal create"), "\(keyless)")
        try await machine.add("mine")
        #expect(try await machine.kvs("ls", "--store", "clip").isEmpty)
        await daemon.stop()
    }

    @Test("a machine that is left out of the next content key keeps what it has, and gets no more")
    func leftOut() async throws {
        try await ClipMachines.with { machines in
            let (desk, laptop) = (machines.desk, machines.laptop)
            try await desk.add("before")
            #expect(try await laptop.list() == ["before"])
            try await desk.kvs("seal", "rotate", "--without", "laptop")
            try await desk.add("after")
            let list = try await laptop.outcome("list", "--format", "title")
            #expect(list.status == 0 && list.text == "before\n", "\(list)")
            #expect(list.errors.contains("content key"), "\(list)")
            #expect(try await desk.list() == ["after", "before"])
        }
    }

    @Test("sharing that is turned off leaves every item, and later ones to their machine")
    func turningOff() async throws {
        try await ClipMachines.with { machines in
            let (desk, laptop) = (machines.desk, machines.laptop)
            try await desk.add("shared")
            #expect(try await laptop.list() == ["shared"])
            try await laptop.clip("sync", "off")
            try await laptop.clip("clear", "--yes")
            try await laptop.add("own")
            #expect(try await desk.list() == ["shared"])
            try await laptop.clip("sync", "on", "--yes")
            #expect(try await laptop.list() == ["own", "shared"])
        }
    }

    @Test("a machine that joins another account shares nothing with it by itself, and keeps all")
    func otherAccount() async throws {
        try await ClipMachines.with { machines in
            try await machines.desk.add("for the first account")
            try await machines.desk.kvs("leave")
            let list = try await machines.desk.outcome("list", "--format", "title")
            #expect(list.text == "for the first account\n" && list.errors.contains("ubq join"))
            try await machines.desk.add("alone")
            let status = try await machines.desk.clip("status")
            #expect(status.contains("another account"), "\(status)")
            #expect(try await machines.laptop.list() == ["for the first account"])
        }
    }

    @Test("commands that are killed at any moment lose no copy that was reported as kept")
    func killed() async throws {
        let seed = UInt64.random(in: 0...UInt64.max / 2)
        var randomness = SeededGenerator(seed: seed)
        let program = try #require(TemporaryHome.program("clip"))
        try await ClipMachines.with { machines in
            let (desk, laptop) = (machines.desk, machines.laptop)
            var kept: Set<String> = []
            for round in 0..<16 {
                let machine = round % 2 == 0 ? desk : laptop
                let text = "round \(round)"
                let file = try machine.home.file("text", text)
                let adding = try RunningProgram(
                    machine.home, "/bin/sh", ["-c", #"exec "$0" add <"$1""#, program.path, file])
                let time = Int.random(in: 0..<100, using: &randomness)
                try await Task.sleep(for: .milliseconds(time))  // deadline of the program
                adding.send(SIGKILL)
                if await adding.status() == 0 { kept.insert(text) }
                if round % 5 == 4 { _ = try await desk.outcome("pin", "1", "b") }
            }
            for machine in [desk, laptop, desk] { try await machine.clip("sync") }
            let found = try await laptop.list()
            let titles = Set(found.map { String($0.split(separator: " [")[0]) })
            #expect(titles.isSuperset(of: kept), "seed \(seed): \(kept.subtracting(titles))")
            #expect(try await desk.list() == found, "seed \(seed)")
        }
    }

    @Test("with collectors a copy is in the other list as it happens, and a removal goes")
    func live() async throws {
        try await ClipMachines.with { machines in
            let (desk, laptop) = (machines.desk, machines.laptop)
            let store = try HistoryStore(
                ClipFiles(environment: StoreEnvironment(home: laptop.home.path)), isWatched: true)
            defer { store.close() }
            let changes = store.changes
            let collectors = try [desk, laptop].map {
                try RunningProgram($0.home, "clip", ["collect", "--backend", "none"])
            }
            for collector in collectors { for await _ in collector.errors { break } }
            func wait(until isThere: ([String]) -> Bool) async {
                for await _ in changes {
                    let items = store.entries().items.values
                    if isThere(items.map { ItemTitle.title(of: $0) }) { return }
                }
            }
            try await desk.add("live")
            await wait { $0 == ["live"] }
            #expect(try await laptop.clip("status").contains("\nshared, synced just now\n"))
            try await desk.clip("delete", "1")
            await wait { $0.isEmpty }
            for collector in collectors {
                collector.send(SIGTERM)
                #expect(await collector.status() == 0)
            }
        }
    }

    @Test("rules that two machines add are those of both, and hold on each")
    func rules() async throws {
        try await ClipMachines.with { machines in
            try await machines.desk.clip("rules", "add", "^PIN")
            try await machines.laptop.clip("rules", "add", "^TAN")
            #expect(try await machines.laptop.clip("rules") == "1\t^PIN\n2\t^TAN\n")
            #expect(try await machines.laptop.outcome("add", input: "PIN 1").status == 1)
            try await machines.desk.clip("sync")
            #expect(try await machines.desk.outcome("add", input: "TAN 1").status == 1)
        }
    }

    @Test("a machine without the account's settings does not trim what the account has")
    func settings() async throws {
        try await ClipMachines.with(sharing: false) { machines in
            let (desk, laptop) = (machines.desk, machines.laptop)
            try await laptop.clip("settings", "historySize", "2")
            try await desk.clip("settings", "historySize", "900")
            try await desk.clip("sync", "on", "--yes")
            for text in ["1", "2", "3", "4"] { try await desk.add(text) }
            try await laptop.clip("sync", "on", "--yes")
            try await laptop.add("5")
            #expect(try await desk.list() == ["5", "4", "3", "2", "1"])
        }
    }

    private func id(of title: String, _ machine: ClipMachine) async throws -> String {
        let lines = try await machine.clip("list", "--format", "title|id").split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix(title + "|") })
        return String(line.dropFirst(title.count + 1))
    }

    @Test("a machine that was removed from the account is told so, with what to do")
    func removed() async throws {
        try await ClipMachines.with { machines in
            let admin = ClipMachine(home: try TemporaryHome())
            defer { admin.home.remove() }
            try await admin.kvs("join", "--name", "admin", machines.daemon.pair("--admin"))
            try await admin.kvs("device", "remove", "laptop")
            let added = try await machines.laptop.outcome("add", input: "x")
            #expect(added.status == 0 && added.errors.contains("ubq join LINE"), "\(added)")
            let sync = try await machines.laptop.outcome("sync")
            #expect(sync.status == 77 && sync.errors.contains("this device was removed"), "\(sync)")
            let link = try await machines.laptop.home.run("link", ["sync"])
            #expect(link.status == 77 && link.errors.contains("this device was removed"), "\(link)")
        }
    }
}
