import Foundation
import Testing

@testable import UsagePusher

@Suite("Watching real files", .timeLimit(.minutes(5)))
struct FileWatcherTests {
    private let directory: WatchedDirectory

    init() throws { directory = try WatchedDirectory() }

    @Test("every line appended to a file deep in a tree is reported")
    func append() async throws {
        let tree = WatchedPath(directory.at("sessions"), isRecursive: true)
        try directory.createDirectory(directory.at("sessions/2026/09"))
        try directory.write("one\n", to: directory.at("sessions/2026/09/a.jsonl"))
        try await directory.watch([tree])
        for _ in 0..<3 {
            try await directory.write("two\n", to: directory.at("sessions/2026/09/a.jsonl"), changing: tree)
        }
    }

    @Test("a directory created later is watched with its subdirectories")
    func newDirectories() async throws {
        let tree = WatchedPath(directory.at("sessions"), isRecursive: true)
        try directory.createDirectory(tree.path)
        try await directory.watch([tree])
        try directory.createDirectory(directory.at("sessions/2026/09/18"))
        try await directory.write("one\n", to: directory.at("sessions/2026/09/18/a.jsonl"), changing: tree)
        try await directory.write("two\n", to: directory.at("sessions/2026/09/18/a.jsonl"), changing: tree)
    }

    @Test("a file moved from one tree to another is reported there when it grows")
    func archived() async throws {
        let sessions = WatchedPath(directory.at("sessions"), isRecursive: true)
        let archive = WatchedPath(directory.at("archived_sessions"), isRecursive: true)
        try directory.createDirectory(directory.at("sessions/2026/09"))
        try directory.createDirectory(archive.path)
        try directory.write("one\n", to: directory.at("sessions/2026/09/a.jsonl"))
        try await directory.watch([sessions, archive])
        try directory.move(directory.at("sessions/2026/09/a.jsonl"), to: directory.at("archived_sessions/a.jsonl"))
        try await directory.waitUntilSettled(afterChangeOf: archive)
        for _ in 0..<2 {
            try await directory.write("two\n", to: directory.at("archived_sessions/a.jsonl"), changing: archive)
            #expect(try await directory.settle().isSubset(of: [archive]))
        }
    }

    @Test("every replacement of a file by renaming is reported")
    func renameOver() async throws {
        let file = WatchedPath(directory.at("state.json"))
        try directory.write("0", to: file.path)
        try await directory.watch([file])
        for number in 1...3 {
            try directory.replace(file.path, with: "\(number)")
            try await directory.waitUntilSettled(afterChangeOf: file)
        }
        try await directory.write("appended", to: file.path, changing: file)
    }

    @Test("changes of neighbouring files are not reported")
    func neighbours() async throws {
        let file = WatchedPath(directory.at("state.json"))
        try directory.write("0", to: file.path)
        try await directory.watch([file])
        try directory.write("x", to: directory.at("other.json"))
        #expect(try await directory.settle() == [])
        try await directory.write("1", to: file.path, changing: file)
    }

    @Test("changes of a directory's direct entries are reported")
    func flatDirectory() async throws {
        let flat = WatchedPath(directory.at("captures"))
        try directory.createDirectory(flat.path)
        try await directory.watch([flat])
        try directory.replace(directory.at("captures/one.json"), with: "1")
        await directory.waitForChange(of: flat)
    }

    @Test("a deleted and recreated tree is watched again")
    func recreate() async throws {
        let tree = WatchedPath(directory.at("tool/sessions"), isRecursive: true)
        try directory.createDirectory(directory.at("tool/sessions/a"))
        try await directory.watch([tree])
        try directory.remove(directory.at("tool"))
        try await directory.waitUntilSettled(afterChangeOf: tree)
        try directory.createDirectory(directory.at("tool/sessions/b"))
        try await directory.waitUntilSettled(afterChangeOf: tree)
        try await directory.write("x", to: directory.at("tool/sessions/b/log"), changing: tree)
    }

    @Test("when a parent directory is moved away, its successor is watched instead")
    func movedAncestor() async throws {
        let tree = WatchedPath(directory.at("tool/sessions"), isRecursive: true)
        try directory.createDirectory(directory.at("tool/sessions/a"))
        try await directory.watch([tree])
        try directory.move(directory.at("tool"), to: directory.at("tool.bak"))
        try await directory.waitUntilSettled(afterChangeOf: tree)
        try directory.write("x", to: directory.at("tool.bak/sessions/a/log"))
        #expect(try await directory.settle() == [])
        try directory.createDirectory(directory.at("tool/sessions/a"))
        try await directory.waitUntilSettled(afterChangeOf: tree)
        try await directory.write("x", to: directory.at("tool/sessions/a/log"), changing: tree)
    }

    @Test("a missing root is watched as soon as it appears")
    func missingRoot() async throws {
        let tree = WatchedPath(directory.at("not/there/yet"), isRecursive: true)
        let file = WatchedPath(directory.at("not/here.json"))
        try await directory.watch([tree, file])
        try directory.createDirectory(directory.at("not"))
        await directory.waitForChange(of: file)
        try await directory.write("{}", to: file.path, changing: file)
        try directory.createDirectory(directory.at("not/there/yet/deep"))
        try await directory.waitUntilSettled(afterChangeOf: tree)
        try await directory.write("x", to: directory.at("not/there/yet/deep/log"), changing: tree)
    }

    @Test("linked directories are followed: as the root, inside the tree, and to a new target")
    func linkedDirectories() async throws {
        let tree = WatchedPath(directory.at("home/.tool/sessions"), isRecursive: true)
        for name in ["home", "data/one/sessions", "data/two/sessions", "elsewhere/deep"] {
            try directory.createDirectory(directory.at(name))
        }
        try directory.link(directory.at("home/.tool"), to: "../data/one")
        try directory.link(directory.at("data/one/sessions/inner"), to: directory.at("elsewhere"))
        try await directory.watch([tree])
        try await directory.write("x", to: directory.at("data/one/sessions/log"), changing: tree)
        try await directory.write("x", to: directory.at("elsewhere/deep/log"), changing: tree)
        try directory.remove(directory.at("home/.tool"))
        try directory.link(directory.at("home/.tool"), to: "../data/two")
        try await directory.waitUntilSettled(afterChangeOf: tree)
        try await directory.write("x", to: directory.at("data/two/sessions/log"), changing: tree)
    }

    @Test("changes of a linked file's target are reported")
    func linkedFile() async throws {
        let file = WatchedPath(directory.at("state.json"))
        try directory.createDirectory(directory.at("dotfiles"))
        try directory.write("{}", to: directory.at("dotfiles/state.json"))
        try directory.link(file.path, to: "dotfiles/state.json")
        try await directory.watch([file])
        try await directory.write("x", to: directory.at("dotfiles/state.json"), changing: file)
        try directory.replace(directory.at("dotfiles/state.json"), with: "y")
        await directory.waitForChange(of: file)
    }

    @Test("cycles of links end", .enabled(if: InotifyInstances.isAvailable, InotifyInstances.comment))
    func circle() async throws {
        let tree = WatchedPath(directory.at("tree"), isRecursive: true)
        let knot = WatchedPath(directory.at("knot/file"))
        try directory.createDirectory(directory.at("tree/a"))
        try directory.link(directory.at("tree/a/up"), to: "..")
        try directory.link(directory.at("knot"), to: "knot")
        try await directory.watch([tree, knot])
        try await directory.write("x", to: directory.at("tree/a/log"), changing: tree)
        #expect(directory.degradations.isEmpty)
    }
}
