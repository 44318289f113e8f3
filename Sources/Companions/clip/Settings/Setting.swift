import Essentials
import TerminalText

/// A setting as a user names it.
struct Setting {
    enum Place {
        case synced(ClipSettings.Key)
        /// The text of its value, and what takes a text, which returns whether it is a value.
        case device((DeviceSettings) -> String, (inout DeviceSettings, String) -> Bool)
    }

    let name: String
    let place: Place
    /// In words, for help and errors.
    let values: String

    static let sizeName = "historySize"
    static let expiryName = "expire"

    func text(_ settings: ClipSettings, _ device: DeviceSettings) -> String {
        switch place {
        case .synced(let key): settings.text(of: key)
        case .device(let text, _): text(device)
        }
    }

    var defaultText: String { text(ClipSettings(), DeviceSettings()) }

    private static func synced(_ key: ClipSettings.Key, _ values: String) -> Setting {
        Setting(name: key.rawValue, place: .synced(key), values: values)
    }

    private static func number(
        _ name: String, _ path: WritableKeyPath<DeviceSettings, Int>, _ range: ClosedRange<Int>, _ unit: String
    ) -> Setting {
        Setting(
            name: name,
            place: .device(
                { String($0[keyPath: path]) },
                { settings, text in
                    guard let number = Int(text), range.contains(number) else { return false }
                    settings[keyPath: path] = number
                    return true
                }), values: "\(range.lowerBound) to \(range.upperBound)\(unit)")
    }

    private static func flag(
        _ name: String, _ path: WritableKeyPath<DeviceSettings, Bool>, _ meaning: String
    ) -> Setting {
        Setting(
            name: name,
            place: .device(
                { $0[keyPath: path] ? "on" : "off" },
                { settings, text in
                    guard ["on", "off"].contains(text) else { return false }
                    settings[keyPath: path] = text == "on"
                    return true
                }), values: "on or off; \(meaning)")
    }

    private static func names<Value: RawRepresentable<String> & CaseIterable>(_ type: Value.Type) -> String {
        type.allCases.map(\.rawValue).joined(separator: ", ")
    }

    private static var ofAllMachines: [Setting] {
        [
            synced(.searchMode, names(SearchMode.self)),
            synced(.sortBy, names(ItemOrder.self)),
            synced(.pinTo, names(PinPlacement.self)),
            synced(.highlightMatch, names(HighlightStyle.self)),
            synced(.historySize, "1 to 999 items that are not pinned"),
            synced(.expire, names(Expiry.self) + "; of items that are not pinned, after the last copy"),
            synced(.showSpecialSymbols, "on or off; ·, ⏎ and ⇥ in titles"),
            synced(.ignoredTypes, "a JSON array of types by which programs mark what is not to be kept"),
        ]
    }

    private static var ofThisMachine: [Setting] {
        [
            Setting(
                name: "backend",
                place: .device(
                    { $0.backend ?? "auto" },
                    { settings, text in
                        guard ["auto", "wayland", "x11", "none"].contains(text) else { return false }
                        settings.backend = text == "auto" ? nil : text
                        return true
                    }), values: "auto, wayland, x11, none"),
            Setting(
                name: "applications",
                place: .device(
                    { $0.applications.joined(separator: ",") },
                    { settings, text in
                        settings.applications = text.split(separator: ",").prefix(256).map { $0.trimmed() }
                        return true
                    }), values: "names with commas between, of which no copies are kept"),
            flag("onlyApplications", \.keepsOnlyApplications, "keep the copies of those applications alone"),
            flag("text", \.keepsText, "keep text, HTML and RTF"),
            flag("images", \.keepsImages, "keep images"),
            flag("files", \.keepsFiles, "keep names of files"),
            flag("skipTokens", \.skipsTokens, "do not keep what looks like a token or private key"),
            number("itemSize", \.itemKibibytes, 1...64, " KiB, above which an item is not shared"),
            number("cacheSize", \.cacheMebibytes, 0...4_096, " MiB, for such items on this machine"),
            flag("follow", \.follows, "copy the newest item of other machines to this clipboard"),
        ]
    }

    static var all: [Setting] { ofAllMachines + ofThisMachine }

    static var help: String {
        func lines(_ settings: [Setting]) -> String {
            settings.map {
                "  " + $0.name.padded(toCells: 20) + $0.values + " (\($0.defaultText))"
            }.joined(separator: "\n")
        }
        return "ALL MACHINES\n" + lines(ofAllMachines) + "\n\nTHIS MACHINE\n" + lines(ofThisMachine)
    }
}
