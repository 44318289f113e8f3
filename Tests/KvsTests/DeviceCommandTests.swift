import Foundation
import TestSupport
import Testing

/// Administration of devices from another machine.
extension DaemonTests {
    private func joined(_ names: [String], _ url: String, _ tokens: [String: String]) async throws -> [TemporaryHome] {
        var homes: [TemporaryHome] = []
        for name in names {
            let home = try TemporaryHome()
            homes.append(home)
            let outcome = try await join(home, url, tokens[name])
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        return homes
    }

    @Test("an admin lists, renames and removes devices, and the removed device's watch is rejected")
    func administers() async throws {
        try await withDaemon(devices: ["phone"], admins: ["desk"]) { url, tokens, _, _ in
            let homes = try await joined(["desk", "phone"], url, tokens)
            defer { for home in homes { home.remove() } }
            let (desk, phone) = (homes[0], homes[1])
            #expect(try await desk.patiently("set", "k", "v", "--require-sync").status == 0)
            let watch = try RunningProgram(phone, "kvs", ["watch"])
            var notes = watch.errors.makeAsyncIterator()
            while let note = await notes.next(), note != "kvs: connected" {}

            let renamed = try await desk.patiently("device", "rename", "phone", "tablet")
            #expect(renamed.status == 0 && renamed.text.hasSuffix(" to tablet\n"))
            let list = try await desk.patiently("device", "list")
            #expect(list.text.contains(/desk +[0-9a-f]{16} +program +read\+write\+admin .+ this device\n/))
            #expect(list.text.contains(/tablet +[0-9a-f]{16} +program +read\+write .+ online +now\n/))
            let json = try await phone.patiently("device", "list", "--json")
            let devices = try #require(try JSONSerialization.jsonObject(with: json.output) as? [[String: Any]])
            #expect(devices.map { $0["device"] as? String } == ["tablet", "desk"])
            #expect(devices.map { $0["thisDevice"] as? Bool } == [true, false])
            #expect(devices.map { $0["connected"] as? Bool } == [true, false])
            #expect((devices[0]["added"] as? String)?.hasSuffix("Z") == true, "\(json.text)")

            let removed = try await desk.patiently("device", "remove", "tablet")
            #expect(removed.status == 0 && removed.text.contains("removed tablet ("))
            var rejection = await notes.next()
            while let note = rejection, !note.contains("rejected the token") {
                rejection = await notes.next()
            }
            #expect(rejection?.contains("ubq join LINE") == true)
            watch.interrupt()
            _ = await watch.status()
            for command in [["sync"], ["get", "--fresh", "k"]] {
                let refused = try await phone.run("kvs", command + ["--timeout", "120"])
                #expect(refused.status == 77, "\(refused)")
                #expect(refused.errors.contains("ubq join LINE"), "\(refused)")
            }
            #expect(try await phone.patiently("status").text.contains("ubq join LINE"))
        }
    }

    @Test("a refused change names the device, the value and the next step")
    func refusedAdministration() async throws {
        try await withDaemon(devices: ["phone"], admins: ["desk"]) { url, tokens, _, _ in
            let homes = try await joined(["desk", "phone"], url, tokens)
            defer { for home in homes { home.remove() } }
            let (desk, phone) = (homes[0], homes[1])
            let cases: [(TemporaryHome, [String], Int32, [String])] = [
                (
                    phone, ["remove", "desk"], 77,
                    ["device desk", "(no-admin)", "kvsd device remove 'desk'", "kvsd pair --admin"]
                ),
                (phone, ["rename", "desk", "x"], 77, ["device desk to 'x'", "rename 'desk' 'x'"]),
                (desk, ["remove", "none"], 1, ["device none", "kvs device list"]),
                (desk, ["rename", "phone", "desk"], 64, ["device phone", "'desk'", "another name"]),
                (desk, ["rename", "phone", " x"], 64, ["device phone", "' x'", "another name"]),
            ]
            for (home, arguments, status, texts) in cases {
                let outcome = try await home.run("kvs", ["device"] + arguments + ["--timeout", "120"])
                #expect(outcome.status == status, "\(arguments): \(outcome.errors)")
                for text in texts { #expect(outcome.errors.contains(text), "\(outcome.errors)") }
            }
            let list = try await phone.patiently("device", "list")
            #expect(list.text.contains("desk ") && list.text.contains("phone "), "\(list.text)")
        }
        let home = try TemporaryHome()
        defer { home.remove() }
        let outcome = try await home.kvs("device", "list")
        #expect(outcome.status == 78 && outcome.errors.contains("run ubq join"))
    }

    @Test("removing this very device needs a yes")
    func removesItself() async throws {
        try await withDaemon(devices: [], admins: ["desk"]) { url, tokens, _, _ in
            let homes = try await joined(["desk"], url, tokens)
            defer { homes[0].remove() }
            let desk = homes[0]
            let unasked = try await desk.patiently("device", "remove", "desk")
            #expect(unasked.status == 64, "\(unasked.errors)")
            #expect(unasked.errors.contains("desk is this device"), "\(unasked.errors)")
            #expect(unasked.errors.contains("--yes"))
            let terminal = try PseudoTerminal()
            let asked = try RunningProgram(
                desk, "kvs", ["device", "remove", "desk", "--timeout", "120"], terminal: terminal)
            await terminal.wait(toSee: "desk is this device. Remove it? [y/N] ")
            terminal.type("n\n")
            await terminal.wait(toSee: "nothing was changed")
            #expect(await asked.status() == 0)
            terminal.closeBoth()
            #expect(try await desk.patiently("sync").status == 0)
            let removed = try await desk.patiently("device", "remove", "desk", "--yes")
            #expect(removed.status == 0 && removed.text.contains("kvs leave"), "\(removed.errors)")
            #expect(try await desk.patiently("sync").status == 77)
        }
    }

    @Test("kvs join asks for the token on a terminal and does not show it")
    func asksForToken() async throws {
        try await withDaemon(devices: ["desk"]) { url, tokens, home, _ in
            let token = try #require(tokens["desk"])
            let terminal = try PseudoTerminal()
            let joining = try RunningProgram(home, "kvs", ["join", url, "--timeout", "120"], terminal: terminal)
            await terminal.wait(toSee: "Token for \(url): ")
            terminal.type(token + "\n")
            let shown = await terminal.wait(toSee: "as device desk")
            #expect(!shown.contains(token))
            #expect(await joining.status() == 0)
            terminal.closeBoth()
        }
    }
}
