import Essentials
import KVStoreEssentials
import LocalFiles
import UsageState

/// The files in which the viewer keeps the scene of each window and the settings of the device. What cannot be read
/// counts as new, and what cannot be written is lost: neither is worth an error.
struct WindowFiles: Sendable {
    private let directory: LocalDirectory
    /// The name of the window's file.
    private let window: String

    private static let byteLimit = 65_536
    /// The scenes that have not been written for longest are removed beyond this.
    static let windowLimit = 64
    private static let longestName = 80

    /// - Parameter window: see `identity`.
    init(window: String, environment: [String: String]) {
        directory = LocalDirectory(UserDirectories(environment: environment).state + "/viewer")
        self.window = "window-" + Self.fileName(window) + ".json"
    }

    /// The name that was given, else the terminal's pane, else the terminal.
    static func identity(named name: String?, environment: [String: String], terminal: String?) -> String {
        if let name { return "name-" + name }
        let panes = [
            "TMUX_PANE", "WEZTERM_PANE", "KITTY_WINDOW_ID", "ZELLIJ_PANE_ID", "ITERM_SESSION_ID",
            "TERM_SESSION_ID", "WT_SESSION",
        ]
        for variable in panes { if let value = environment[variable], !value.isEmpty { return variable + "-" + value } }
        return terminal ?? "terminal"
    }

    /// ASCII letters, digits and a few signs; everything else becomes "_" and a number in hexadecimal digits.
    private static func fileName(_ text: String) -> String {
        let encoded = text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                String(Unicode.Scalar(byte))
            default: "_" + byte.hexadecimal(digits: 2)
            }
        }.joined()
        return String(encoded.prefix(longestName))
    }

    private var settingsFile: LocalFile { LocalFile(directory.path + "/settings.json") }
    private var sceneFile: LocalFile { LocalFile(directory.path + "/" + window) }

    var settings: ViewSettings? { Self.read(settingsFile) }
    var scene: Scene? { Self.read(sceneFile) }

    /// An element once the folder is watched, which is created if it is missing, and when a window may have written in
    /// it, this one included.
    var changes: AsyncStream<Void> {
        let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        try? directory.create()  // What is not there is not watched.
        let watch = WatchedDirectory.watch(directory.path) { change.yield() }
        change.onTermination = { _ in watch.cancel() }
        change.yield()
        return changes
    }

    func write(_ settings: ViewSettings) { write(settings, to: settingsFile) }

    /// Writes what differs.
    func write(_ state: LiveState, since former: LiveState) {
        if state.scene != former.scene { write(state.scene) }
        if state.settings != former.settings { write(state.settings) }
    }

    func write(_ scene: Scene) {
        let isNew = ((try? FileStatus(path: sceneFile.path)) ?? nil) == nil  // One that is not known counts as new.
        write(scene, to: sceneFile)
        if isNew { removeOldest() }
    }

    private static func read<Value: Decodable>(_ file: LocalFile) -> Value? {
        guard let content = try? file.read(byteLimit: byteLimit) else { return nil }  // New, as described.
        return try? JSONDecoder().decode(Value.self, from: content.data)  // New, as described.
    }

    private func write(_ value: some Encodable, to file: LocalFile) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let data = encoder.data(of: value)
        guard data.count <= Self.byteLimit else { return }
        do throws(FileError) {
            try directory.create()
            try file.replace(with: data, durability: .cached)
        } catch {
            // Lost, as described.
        }
    }

    private func removeOldest() {
        // Too many are left for the next time.
        let entries = (try? directory.entries(limit: 4 * Self.windowLimit))?.entries ?? []
        let windows = entries.map(\.name).filter { $0.hasPrefix("window-") }
        guard windows.count > Self.windowLimit else { return }
        let times = windows.map { name in
            let status = try? FileStatus(path: directory.path + "/" + name)  // The oldest, if it is not known.
            return (name: name, time: status?.modified ?? 0)
        }
        for (name, _) in times.sorted(by: { $1.time < $0.time }).dropFirst(Self.windowLimit) {
            try? LocalFile(directory.path + "/" + name).remove(durability: .cached)  // It is left for the next time.
        }
    }
}
