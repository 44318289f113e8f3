/// A part of the live viewer, in the order of the tabs.
enum Section: String, Sendable, CaseIterable, Codable {
    case usage, history, spending, devices, keys, settings, help

    var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }

    /// For a tab strip without room for the title.
    var shortTitle: String {
        switch self {
        case .usage: "Use"
        case .history: "Hist"
        case .spending: "Cost"
        case .devices: "Dev"
        case .keys: "Keys"
        case .settings: "Set"
        case .help: "Help"
        }
    }

    /// The key that leads to it: "1" and so on.
    var digit: Int { (Self.allCases.firstIndex(of: self) ?? 0) + 1 }

    func next(_ step: Int) -> Section {
        let count = Self.allCases.count
        return Self.allCases[((digit - 1 + step) % count + count) % count]
    }
}
