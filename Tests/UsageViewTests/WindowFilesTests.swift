import Foundation
import Testing
import UsageState

@testable import usage_view

@Suite("Files of the windows")
struct WindowFilesTests {
    private let directory = FileManager.default.temporaryDirectory
        .appending(path: "window-files-\(UUID().uuidString)").path
    private var environment: [String: String] { ["XDG_STATE_HOME": directory] }

    private func files(_ window: String) -> WindowFiles { WindowFiles(window: window, environment: environment) }

    @Test("a window finds its scene again, and all find the settings")
    func restored() {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        #expect(files("a").scene == nil && files("a").settings == nil)
        var scene = Scene()
        scene.section = .keys
        scene.position = Scene.Position(selection: "k\t日", firstLine: 3, query: "q")
        scene.sortOrder = .tightest
        files("a").write(scene)
        files("../b/\u{1B}").write(Scene())
        var settings = ViewSettings()
        settings.theme = .colorBlind
        settings.navigation = .tabs
        files("a").write(settings)
        #expect(files("a").scene == scene)
        #expect(files("../b/\u{1B}").scene == Scene())
        #expect(files("b").settings == settings)
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: directory)) ?? []
        #expect(names.count == 5, "\(names)")
        let mode =
            try? FileManager.default.attributesOfItem(
                atPath: directory + "/ubiquity/viewer/settings.json")[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test("files that say something else count as new")
    func damaged() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        files("a").write(Scene())
        let path = directory + "/ubiquity/viewer/"
        for text in ["", "[", "[]", "{\"section\": 7}", String(repeating: "x", count: 100_000)] {
            try Data(text.utf8).write(to: URL(filePath: path + "window-a.json"))
            #expect(files("a").scene == nil || files("a").scene == Scene())
        }
        try Data(
            "{\"section\":\"keys\",\"positions\":{\"keys\":{\"firstLine\":-5},\"x\":{}},\"theme\":1}".utf8
        ).write(to: URL(filePath: path + "window-a.json"))
        #expect(files("a").scene?.section == .keys)
        try Data("{\"theme\":\"pink\",\"navigation\":\"tabs\"}".utf8).write(to: URL(filePath: path + "settings.json"))
        #expect(files("a").settings?.theme == .terminal)
        #expect(files("a").settings?.navigation == .tabs)
    }

    @Test("the number of windows is bounded")
    func bounded() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        for number in 0..<(WindowFiles.windowLimit + 10) { files("w\(number)").write(Scene()) }
        let names = try FileManager.default.contentsOfDirectory(atPath: directory + "/ubiquity/viewer")
        #expect(names.count == WindowFiles.windowLimit)
        #expect(files("w\(WindowFiles.windowLimit + 9)").scene != nil)
    }

    @Test("a window is what was named, else the pane, else the terminal")
    func identity() {
        let environment = ["TMUX_PANE": "%3", "TERM_SESSION_ID": "x"]
        func identity(_ name: String?, _ environment: [String: String]) -> String {
            WindowFiles.identity(named: name, environment: environment, terminal: "/dev/pts/4")
        }
        #expect(identity("work", environment) == "name-work")
        #expect(identity(nil, environment) == "TMUX_PANE-%3")
        #expect(identity(nil, [:]) == "/dev/pts/4")
    }
}
