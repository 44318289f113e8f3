import Foundation
import Testing

@testable import UsagePusher

@Suite("Polled paths")
struct PolledPathsTests {
    private func polled(_ paths: WatchedPath..., inspectionCount: Int = 1_000) -> PolledPaths {
        var limits = WatchLimits()
        limits.inspectionCount = inspectionCount
        var polled = PolledPaths(limits: limits)
        for (root, path) in paths.enumerated() { polled.add(path, root: root) }
        return polled
    }

    @Test("the next round finds what was added, written, replaced, moved or removed")
    func everyKind() throws {
        let directory = try WatchedDirectory()
        let tree = WatchedPath(directory.at("tree"), isRecursive: true)
        let file = WatchedPath(directory.at("state.json"))
        try directory.createDirectory(directory.at("tree/a"))
        try directory.write("1", to: directory.at("tree/a/log"))
        var polled = polled(tree, file)
        #expect(polled.round() == [])
        func expectChange(
            of roots: Set<Int>, sourceLocation: SourceLocation = #_sourceLocation, _ change: () throws -> Void
        ) throws {
            try change()
            var found = polled.round()
            #expect(found == roots, sourceLocation: sourceLocation)
            // The tour may find again what was found among the recent entries.
            found = polled.round()
            #expect(polled.round() == [], "\(found)", sourceLocation: sourceLocation)
        }
        try expectChange(of: [0]) { try directory.write("2", to: directory.at("tree/a/log")) }
        try expectChange(of: [0]) { try directory.replace(directory.at("tree/a/log"), with: "3") }
        try expectChange(of: [0]) { try directory.createDirectory(directory.at("tree/b/c")) }
        try expectChange(of: [0]) { try directory.write("1", to: directory.at("tree/b/c/log")) }
        try expectChange(of: [0]) { try directory.write("2", to: directory.at("tree/b/c/log")) }
        try expectChange(of: [0]) {
            try directory.move(directory.at("tree/b"), to: directory.at("tree/d"))
        }
        try expectChange(of: [0]) { try directory.write("3", to: directory.at("tree/d/c/log")) }
        try expectChange(of: [1]) { try directory.write("{}", to: file.path) }
        try expectChange(of: [1]) { try directory.write("x", to: file.path) }
        try expectChange(of: [0, 1]) {
            try directory.remove(file.path)
            try directory.remove(directory.at("tree/d/c/log"))
        }
        try expectChange(of: [0]) { try directory.remove(tree.path) }
        try expectChange(of: [0]) { try directory.createDirectory(directory.at("tree/e")) }
        try expectChange(of: [0]) { try directory.write("1", to: directory.at("tree/e/log")) }
    }

    @Test("of more entries than a round inspects, recent ones are found at once and others by the tour")
    func bounded() throws {
        let directory = try WatchedDirectory()
        let tree = WatchedPath(directory.at("tree"), isRecursive: true)
        for day in 0..<40 {
            try directory.createDirectory(directory.at("tree/\(day)"))
            for number in 0..<10 {
                let path = directory.at("tree/\(day)/\(number)")
                try directory.write("x", to: path)
                try directory.setModified(Date(timeIntervalSince1970: 1e9 + 1e5 * Double(day)), path)
            }
            try directory.setModified(Date(timeIntervalSince1970: 1e9 + 1e5 * Double(day)), directory.at("tree/\(day)"))
        }
        var polled = polled(tree, inspectionCount: 100)
        // 440 entries at 50 or more per round.
        try directory.write("y", to: directory.at("tree/0/4"))
        try directory.setModified(Date(timeIntervalSince1970: 1e9), directory.at("tree/0/4"))
        #expect((0..<10).contains { _ in polled.round() == [0] })
        while !polled.round().isEmpty {}
        try directory.write("y", to: directory.at("tree/39/4"))
        #expect(polled.round() == [0])
        while !polled.round().isEmpty {}
        try directory.write("y", to: directory.at("tree/38/new"))
        #expect(polled.round() == [0])
        while !polled.round().isEmpty {}
    }

    @Test("a link that leads back up ends, and a root may lie below another")
    func cycles() throws {
        let directory = try WatchedDirectory()
        let outer = WatchedPath(directory.at("tree"), isRecursive: true)
        let inner = WatchedPath(directory.at("tree/a"), isRecursive: true)
        try directory.createDirectory(directory.at("tree/a"))
        try directory.link(directory.at("tree/a/up"), to: "..")
        var polled = polled(outer, inner)
        try directory.write("x", to: directory.at("tree/a/log"))
        #expect(polled.round() == [0, 1])
    }
}
