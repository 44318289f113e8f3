import Foundation
import Testing

@testable import UsagePusher

@Suite("Watching real files", .timeLimit(.minutes(5)))
struct FileWatcherTests {
    @Test("a line appended to a file deep in a tree is told, again and again")
    func append() async throws {
        let folder = try WatchedFolder()
        let tree = WatchedPath(folder.at("sessions"), isRecursive: true)
        try folder.makeFolder(folder.at("sessions/2026/09"))
        try folder.write("one\n", to: folder.at("sessions/2026/09/a.jsonl"))
        try await folder.watch([tree])
        for _ in 0..<3 {
            try folder.write("two\n", to: folder.at("sessions/2026/09/a.jsonl"))
            await folder.waitForChange(of: tree)
            try await folder.settle()
        }
    }

    @Test("a folder made later is watched with all that is made in it")
    func newFolders() async throws {
        let folder = try WatchedFolder()
        let tree = WatchedPath(folder.at("sessions"), isRecursive: true)
        try folder.makeFolder(tree.path)
        try await folder.watch([tree])
        try folder.makeFolder(folder.at("sessions/2026/09/18"))
        try folder.write("one\n", to: folder.at("sessions/2026/09/18/a.jsonl"))
        await folder.waitForChange(of: tree)
        try await folder.settle()
        try folder.write("two\n", to: folder.at("sessions/2026/09/18/a.jsonl"))
        await folder.waitForChange(of: tree)
    }

    @Test("a file that is replaced by renaming is told each time")
    func renameOver() async throws {
        let folder = try WatchedFolder()
        let file = WatchedPath(folder.at("state.json"))
        try folder.write("0", to: file.path)
        try await folder.watch([file])
        for number in 1...3 {
            try folder.replace(file.path, with: "\(number)")
            await folder.waitForChange(of: file)
            try await folder.settle()
        }
        try folder.write("appended", to: file.path)
        await folder.waitForChange(of: file)
    }

    @Test("a file's neighbours are not told")
    func neighbours() async throws {
        let folder = try WatchedFolder()
        let file = WatchedPath(folder.at("state.json"))
        try folder.write("0", to: file.path)
        try await folder.watch([file])
        try folder.write("x", to: folder.at("other.json"))
        #expect(try await folder.settle() == [])
        try folder.write("1", to: file.path)
        await folder.waitForChange(of: file)
    }

    @Test("a folder that is not recursive tells its entries")
    func flatFolder() async throws {
        let folder = try WatchedFolder()
        let flat = WatchedPath(folder.at("captures"))
        try folder.makeFolder(flat.path)
        try await folder.watch([flat])
        try folder.replace(folder.at("captures/one.json"), with: "1")
        await folder.waitForChange(of: flat)
    }

    @Test("a tree that is deleted and made again is watched again")
    func recreate() async throws {
        let folder = try WatchedFolder()
        let tree = WatchedPath(folder.at("tool/sessions"), isRecursive: true)
        try folder.makeFolder(folder.at("tool/sessions/a"))
        try await folder.watch([tree])
        try folder.remove(folder.at("tool"))
        await folder.waitForChange(of: tree)
        try await folder.settle()
        try folder.makeFolder(folder.at("tool/sessions/b"))
        await folder.waitForChange(of: tree)
        try await folder.settle()
        try folder.write("x", to: folder.at("tool/sessions/b/log"))
        await folder.waitForChange(of: tree)
    }

    @Test("a folder above that is moved away is left, and its successor watched")
    func movedAncestor() async throws {
        let folder = try WatchedFolder()
        let tree = WatchedPath(folder.at("tool/sessions"), isRecursive: true)
        try folder.makeFolder(folder.at("tool/sessions/a"))
        try await folder.watch([tree])
        try folder.move(folder.at("tool"), to: folder.at("tool.bak"))
        await folder.waitForChange(of: tree)
        try await folder.settle()
        try folder.write("x", to: folder.at("tool.bak/sessions/a/log"))
        #expect(try await folder.settle() == [])
        try folder.makeFolder(folder.at("tool/sessions/a"))
        await folder.waitForChange(of: tree)
        try await folder.settle()
        try folder.write("x", to: folder.at("tool/sessions/a/log"))
        await folder.waitForChange(of: tree)
    }

    @Test("a root that is missing is watched from the moment it appears")
    func missingRoot() async throws {
        let folder = try WatchedFolder()
        let tree = WatchedPath(folder.at("not/there/yet"), isRecursive: true)
        let file = WatchedPath(folder.at("not/here.json"))
        try await folder.watch([tree, file])
        try folder.makeFolder(folder.at("not"))
        await folder.waitForChange(of: file)
        try folder.write("{}", to: file.path)
        await folder.waitForChange(of: file)
        try folder.makeFolder(folder.at("not/there/yet/deep"))
        await folder.waitForChange(of: tree)
        try await folder.settle()
        try folder.write("x", to: folder.at("not/there/yet/deep/log"))
        await folder.waitForChange(of: tree)
    }

    @Test("linked folders are followed: as the root, inside the tree, and to a new target")
    func linkedFolders() async throws {
        let folder = try WatchedFolder()
        let tree = WatchedPath(folder.at("home/.tool/sessions"), isRecursive: true)
        for name in ["home", "data/one/sessions", "data/two/sessions", "elsewhere/deep"] {
            try folder.makeFolder(folder.at(name))
        }
        try folder.link(folder.at("home/.tool"), to: "../data/one")
        try folder.link(folder.at("data/one/sessions/inner"), to: folder.at("elsewhere"))
        try await folder.watch([tree])
        try folder.write("x", to: folder.at("data/one/sessions/log"))
        await folder.waitForChange(of: tree)
        try await folder.settle()
        try folder.write("x", to: folder.at("elsewhere/deep/log"))
        await folder.waitForChange(of: tree)
        try await folder.settle()
        try folder.remove(folder.at("home/.tool"))
        try folder.link(folder.at("home/.tool"), to: "../data/two")
        await folder.waitForChange(of: tree)
        try await folder.settle()
        try folder.write("x", to: folder.at("data/two/sessions/log"))
        await folder.waitForChange(of: tree)
    }

    @Test("a linked file is followed to the file that is written")
    func linkedFile() async throws {
        let folder = try WatchedFolder()
        let file = WatchedPath(folder.at("state.json"))
        try folder.makeFolder(folder.at("dotfiles"))
        try folder.write("{}", to: folder.at("dotfiles/state.json"))
        try folder.link(file.path, to: "dotfiles/state.json")
        try await folder.watch([file])
        try folder.write("x", to: folder.at("dotfiles/state.json"))
        await folder.waitForChange(of: file)
        try await folder.settle()
        try folder.replace(folder.at("dotfiles/state.json"), with: "y")
        await folder.waitForChange(of: file)
    }

    @Test("links in a circle end", .enabled(if: WatchingRoom.isThere, WatchingRoom.comment))
    func circle() async throws {
        let folder = try WatchedFolder()
        let tree = WatchedPath(folder.at("tree"), isRecursive: true)
        let knot = WatchedPath(folder.at("knot/file"))
        try folder.makeFolder(folder.at("tree/a"))
        try folder.link(folder.at("tree/a/up"), to: "..")
        try folder.link(folder.at("knot"), to: "knot")
        try await folder.watch([tree, knot])
        try folder.write("x", to: folder.at("tree/a/log"))
        await folder.waitForChange(of: tree)
        #expect(folder.degradations.isEmpty)
    }
}
