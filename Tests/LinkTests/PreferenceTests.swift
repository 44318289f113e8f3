import Foundation
import KVStoreEssentials
import KVStoreHTTP
import TestSupport
import Testing

@Suite("Choosing what links are opened as", .timeLimit(.minutes(5)))
struct PreferenceTests {
    private func withHome(_ body: (LinkHome) async throws -> Void) async throws {
        try await LinkHome.with { home in
            for form in ["hook", "message", "mid"] { try home.addApplication(form, scheme: form) }
            try await body(home)
        }
    }

    /// The form that the next link is opened in.
    private func form(_ home: LinkHome) async throws -> String {
        let printed = try await home.run("open", "--print", LinkHome.link)
        return printed.text.split(separator: ":").first.map(String.init) ?? printed.errors
    }

    @Test func testSettingsViewDisplaysSchemeSelector() async throws {
        try await withHome { home in
            let terminal = try PseudoTerminal()
            let program = try RunningProgram(home.home, "link", [], terminal: terminal)
            let shown = await terminal.wait(toSee: "Enter to leave]:")
            for line in ["*  1 hook     hook (hook.desktop)", "4 custom   no command is set"] {
                #expect(shown.contains(line), "\(shown)")
            }
            terminal.type("7\n")
            let again = await terminal.wait(toSee: "Enter to leave]:")
            #expect(again.contains("not one of 1 to 4"), "\(again)")
            terminal.type("3\n")
            await terminal.wait(toSee: "opened as mid, chosen for all machines")
            #expect(await program.status() == 0)
            terminal.closeBoth()
            #expect(try await form(home) == "mid")
        }
    }

    @Test func testSchemeSelectionPersists() async throws {
        try await withHome { home in
            #expect(try await home.run("set", "message").status == 0)
            for _ in 1...2 { #expect(try await form(home) == "message") }
            let report = try await home.run("--json")
            let document = try JSONSerialization.jsonObject(with: report.output) as? [String: Any]
            #expect(document?["form"] as? String == "message")
            #expect(document?["origin"] as? String == "synced")
        }
    }

    @Test("on first launch the form is hook, and opening creates nothing")
    func firstLaunch() async throws {
        try await withHome { home in
            let before = try home.files().keys.sorted()
            #expect(try await form(home) == "hook")
            #expect(try await home.run().text.contains("opened as hook, the default"))
            #expect(try home.files().keys.sorted() == before)
        }
    }

    @Test(
        "a stored value that is no form counts as hook",
        arguments: [["pigeon"], [""], ["7", "--int"], ["AAE=", "--data"], ["[]", "--json"]])
    func invalid(value: [String]) async throws {
        try await withHome { home in
            let arguments = ["set", "selectedURIScheme", "--store", "prefs"] + value
            let set = try await home.home.run("kvs", arguments)
            #expect(set.status == 0)
            #expect(try await form(home) == "hook")
            #expect(try await home.run().text.contains("the default"))
        }
    }

    @Test("a change acts on the next link, and is a string that every client can set")
    func change() async throws {
        try await withHome { home in
            #expect(try await form(home) == "hook")
            _ = try await home.home.kvs("set", "selectedURIScheme", "mid", "--store", "prefs")
            #expect(try await form(home) == "mid")
            #expect(try await home.run("set", "message").status == 0)
            #expect(try await home.home.kvs("get", "selectedURIScheme", "--store", "prefs").text == "message")
            #expect(try await home.run("unset").status == 0)
            #expect(try await form(home) == "hook")
        }
    }

    @Test("a machine's own form counts for it, until it is unset")
    func device() async throws {
        try await withHome { home in
            #expect(try await home.run("set", "mid", "--device").status == 0)
            let note = try await home.run("set", "message")
            #expect(note.status == 0 && note.errors.contains("its own choice"))
            #expect(try await form(home) == "mid")
            #expect(try await home.run().text.contains("chosen for this machine"))
            #expect(try await home.run("unset", "--device").status == 0)
            #expect(try await form(home) == "message")
        }
    }

    @Test("a synced value never names a command: custom means that of the machine")
    func custom() async throws {
        try await withHome { home in
            let note = try await home.run("set", "custom")
            #expect(note.status == 0 && note.errors.contains("no command is set"))
            let without = try await home.run("open", LinkHome.link)
            #expect(without.status == 78 && without.errors.contains("none is set on this machine"))
            for key in ["command", "customCommand"] {
                _ = try await home.home.kvs("set", key, "touch {id}", "--store", "prefs")
            }
            #expect(try await home.run("open", LinkHome.link).status == 78)
            try home.recorder("show")
            #expect(try await home.run("command", "--", "show", "{id}").status == 0)
            #expect(try await home.run("open", LinkHome.link).text == "noise\n")
            #expect(home.notes("show") == ["n1@example.test"])
            #expect(try await home.home.kvs("export", "--store", "prefs").text.contains("show") == false)
            #expect(try await home.run("command", "--remove").status == 0)
            #expect(try await home.run("command").status == 1)
        }
    }

    @Test("settings that somebody else can write, or that are none, are refused with their path")
    func settingsFile() async throws {
        try await withHome { home in
            let path = try home.home.file(".config/ubiquity/link.json", #"{"form":"mid"}"#)
            #expect(try await form(home) == "mid")
            for (text, mode) in [
                (#"{"form":"mid"}"#, 0o666), (#"{"form":"x"}"#, 0o600), ("", 0o600),
            ] {
                try Data(text.utf8).write(to: URL(filePath: path))
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
                let outcome = try await home.run("open", LinkHome.link)
                #expect(outcome.status == 74 && outcome.errors.contains(path), "\(outcome)")
            }
        }
    }

    @Test("two machines share the choice, and one that opens links gets it for the next one")
    func twoMachines() async throws {
        let daemon = try TemporaryHome()
        defer { daemon.remove() }
        let serving = try RunningProgram(daemon, "kvsd", ["serve", "--listen", "127.0.0.1:0", "--tls"])
        for await line in serving.errors where line.contains("listening on") { break }
        try await withHome { desk in
            try await withHome { laptop in
                for machine in [desk, laptop] {
                    let pairing = try await daemon.run("kvsd", ["pair"])
                    let line = pairing.text.trimmingCharacters(in: .newlines)
                    #expect(try await machine.home.kvs("join", line).status == 0)
                }
                let set = try await desk.run("set", "mid")
                #expect(set.status == 0 && set.errors.isEmpty, "\(set)")
                // Sees what other programs of this machine write, and contacts nobody.
                let watch = try RunningProgram(
                    laptop.home, "kvs", ["watch", "--no-sync", "--store", "prefs", "--count", "1"])
                for await line in watch.errors where line.contains("this machine only") { break }
                let first = try await laptop.run("open", LinkHome.link)
                #expect(first.status == 0 && laptop.notes("xdg-open").last?.hasPrefix("hook:") == true)
                #expect(await watch.status() == 0)
                #expect(try await form(laptop) == "mid")

                #expect(try await laptop.run("set", "message").status == 0)
                #expect(try await desk.run("sync").status == 0)
                #expect(try await form(desk) == "message")
                serving.interrupt()
                _ = await serving.status()
                let offline = try await desk.run("set", "hook")
                #expect(offline.status == 0 && offline.errors.contains("not yet synced"))
                #expect(try await form(desk) == "hook")
                #expect(try await desk.run("sync").status == 69)
            }
        }
    }

    @Test("an app that embeds the store reads and sets the same choice")
    func embedded() async throws {
        try await withHome { home in
            let environment = StoreEnvironment(home: home.home.path)
            let store = try UbiquitousKeyValueStore.open(storeNamed: "prefs", environment: environment)
            store.set("mid", forKey: "selectedURIScheme")
            #expect(try await form(home) == "mid")
            store.close()
        }
    }
}
