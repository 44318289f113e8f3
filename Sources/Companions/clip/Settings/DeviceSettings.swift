import Essentials
import KVStoreSealed
import LocalFiles

/// What holds on this machine alone.
struct DeviceSettings: Codable, Equatable, Sendable {
    /// How copies are collected; nil for what the session offers.
    var backend: String?
    /// The largest contents, in KiB, that are part of the history; an item with more is a stub.
    var itemKibibytes = 16
    /// For contents above that, in MiB.
    var cacheMebibytes = 64
    /// Whether copies in `applications` are the only ones that are kept, instead of those that are not.
    var keepsOnlyApplications = false
    var applications: [String] = []
    /// Which kinds are kept.
    var keepsText = true
    var keepsImages = true
    var keepsFiles = true
    /// Whether what seems to be a token or private key is not kept.
    var skipsTokens = true
    /// Whether the newest copy of another machine is placed in this one's clipboard.
    var follows = false

    private static let recoveryWords = WordList(RecoveryWords.list)

    init() {}

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func take<Value: Decodable>(_ key: CodingKeys, _ path: WritableKeyPath<Self, Value>) throws {
            if let value = try values.decodeIfPresent(Value.self, forKey: key) {
                self[keyPath: path] = value
            }
        }
        backend = try values.decodeIfPresent(String.self, forKey: .backend)
        try take(.itemKibibytes, \.itemKibibytes)
        try take(.cacheMebibytes, \.cacheMebibytes)
        try take(.keepsOnlyApplications, \.keepsOnlyApplications)
        try take(.applications, \.applications)
        try take(.keepsText, \.keepsText)
        try take(.keepsImages, \.keepsImages)
        try take(.keepsFiles, \.keepsFiles)
        try take(.skipsTokens, \.skipsTokens)
        try take(.follows, \.follows)
    }

    /// The defaults without a file.
    static func read(_ files: ClipFiles = ClipFiles()) throws(FileError) -> DeviceSettings {
        try files.settings.read() ?? DeviceSettings()
    }

    static func update(_ files: ClipFiles = ClipFiles(), _ change: (inout DeviceSettings) -> Void) throws(FileError) {
        try files.settings.update(from: DeviceSettings(), change)
    }

    static var table: [Setting<DeviceSettings>] {
        [
            .of(
                "backend", \.backend, CollectCommand.Backend.allCases.map(\.rawValue).joined(separator: ", "),
                { $0 ?? "auto" }
            ) { text in
                CollectCommand.Backend(rawValue: text).map { $0 == .auto ? nil : text }
            },
            .of(
                "applications", \.applications, "names with commas between, of which no copies are kept",
                { $0.joined(separator: ",") }
            ) { text in
                text.split(separator: ",").prefix(256).map { $0.trimmed() }
            },
            .flag("onlyApplications", \.keepsOnlyApplications, "keep the copies of those applications alone"),
            .flag("text", \.keepsText, "keep text, HTML and RTF"),
            .flag("images", \.keepsImages, "keep images"),
            .flag("files", \.keepsFiles, "keep names of files"),
            .flag("skipTokens", \.skipsTokens, "do not keep what looks like a token or private key"),
            .number("itemSize", \.itemKibibytes, 1...64, " KiB, above which an item is not shared"),
            .number("cacheSize", \.cacheMebibytes, 0...4_096, " MiB, for such items on this machine"),
            .flag("follow", \.follows, "copy the newest item of other machines to this clipboard"),
        ]
    }

    /// What is kept, with what the user has chosen for all machines.
    func filter(_ settings: ClipSettings) -> CopyFilter {
        var filter = CopyFilter()
        filter.enabled = []
        if keepsText { filter.enabled.insert(.text) }
        if keepsImages { filter.enabled.insert(.images) }
        if keepsFiles { filter.enabled.insert(.files) }
        filter.ignoredTypes = settings.ignoredTypes
        filter.rules = IgnoreRules(settings.rules)
        filter.skipsTokens = skipsTokens
        filter.recoveryWords = Self.recoveryWords
        filter.applications = keepsOnlyApplications ? .only(Set(applications)) : .allExcept(Set(applications))
        return filter
    }
}
