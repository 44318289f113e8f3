import Essentials

/// Which types of a copy are read: one name for each type that is kept, and of images, which programs convert for each
/// type, only the best. None of a copy that asks not to be kept. Pure.
struct TypeChoice {
    private let enabled: EnabledKinds
    private let ignored: Set<String>

    /// A mark of Windows programs, whose value decides.
    private static let historyMark = "CanIncludeInClipboardHistory"
    /// The names of UTF-8, before those that do not state the encoding.
    private static let unicodeNames = ["text/plain;charset=utf-8", "UTF8_STRING"]
    private static let latinName = "STRING"

    init(_ filter: CopyFilter) {
        enabled = filter.enabled
        ignored = Set((IgnoredTypes.always + filter.ignoredTypes).map { $0.lowercased() })
    }

    func names(of offered: [String]) -> [String] {
        guard !offered.contains(where: { ignored.contains($0.lowercased()) }) else { return [] }
        var names: [ContentType: String] = [:]
        for name in offered {
            let type = ContentType(rawValue: name)
            guard let kind = type.kind, enabled.allow(kind) else { continue }
            if names[type] == nil { names[type] = name }
        }
        if names[.text] != nil {
            let lowercased = offered.map { $0.lowercased() }
            let index = Self.unicodeNames.lazy.compactMap { lowercased.firstIndex(of: $0.lowercased()) }.first
            if let index { names[.text] = offered[index] }
        } else if enabled.allow(.text), offered.contains(Self.latinName) {
            names[.text] = Self.latinName
        }
        let images = names.keys.filter { $0.kind == .image }
        let best = images.contains(.png) ? .png : images.min()
        for image in images where image != best { names[image] = nil }
        let marks = offered.filter { $0.lowercased() == Self.historyMark.lowercased() }
        return marks + names.sorted { $0.key < $1.key }.map(\.value)
    }

    /// The offer with what was read. `STRING`, which is Latin-1, becomes plain text.
    static func offer(
        _ offered: [String], _ data: [(name: String, data: Data)], application: String? = nil,
        unread: Set<Offer.Unread> = []
    ) -> Offer {
        var names = offered
        let data = data.map { part in
            guard part.name == latinName else { return part }
            names.append(ContentType.text.rawValue)
            let text = String(String.UnicodeScalarView(part.data.map { Unicode.Scalar($0) }))
            return (ContentType.text.rawValue, Data(text.utf8))
        }
        return Offer(typeNames: names, data: data, application: application, unread: unread)
    }
}
