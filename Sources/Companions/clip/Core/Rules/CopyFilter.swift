import Essentials

/// Decides which copies are kept, and what of them, before anything is stored.
struct CopyFilter {
    var enabled = EnabledKinds.all
    /// The editable list, beside those that are always ignored.
    var ignoredTypes = IgnoredTypes.editable
    var rules = IgnoreRules([])
    var skipsTokens = true
    /// The words of recovery phrases, which count as tokens.
    var recoveryWords = WordList([])
    var applications = ApplicationRule.allExcept([])

    /// In which applications copies are kept. Where none is known, all are.
    enum ApplicationRule: Hashable, Sendable {
        case allExcept(Set<String>)
        case only(Set<String>)

        func admits(_ application: String?) -> Bool {
            guard let application else { return true }
            switch self {
            case .allExcept(let names): return !names.contains(application)
            case .only(let names): return names.contains(application)
            }
        }
    }

    enum Decision: Hashable, Sendable {
        case keep(ClipContents)
        case skip(SkipReason)
    }

    /// All parts of an offer become one item; types that are unknown or not enabled are dropped.
    func decide(_ offer: Offer, timer: MatchTimer) -> Decision {
        if let reason = reasonToSkip(offer) { return .skip(reason) }
        let contents = ClipContents(
            offer.data.map { ClipContents.Part(ContentType(rawValue: $0.name), $0.data) }
                .filter { !$0.data.isEmpty && $0.type.kind.map(enabled.allow) ?? false })
        guard !contents.parts.isEmpty else { return .skip(reasonForNothing(offer)) }
        if isWhitespace(contents) { return .skip(.onlyWhitespace) }
        return secret(in: contents, timer).map(Decision.skip) ?? .keep(contents)
    }

    /// Which types of a copy are read: one name for each type that is kept, and of images, which programs convert for
    /// each type, only the best. None of a copy that asks not to be kept.
    func names(of offered: [String]) -> [String] {
        let ignored = IgnoredTypes.lowercased(ignoredTypes)
        guard !offered.contains(where: { ignored.contains($0.lowercased()) }) else { return [] }
        var names: [ContentType: String] = [:]
        for name in offered {
            let type = ContentType(rawValue: name)
            guard let kind = type.kind, enabled.allow(kind) else { continue }
            if names[type] == nil { names[type] = name }
        }
        if names[.text] != nil {
            let lowercased = offered.map { $0.lowercased() }
            // UTF-8, before names that do not state the encoding.
            let index = ["text/plain;charset=utf-8", "utf8_string"].lazy.compactMap { lowercased.firstIndex(of: $0) }
                .first
            if let index { names[.text] = offered[index] }
        } else if enabled.allow(.text), offered.contains(Offer.latinName) {
            names[.text] = Offer.latinName
        }
        let images = names.keys.filter { $0.kind == .image }
        let best = images.contains(.png) ? .png : images.min()
        for image in images where image != best { names[image] = nil }
        let marks = offered.filter { $0.lowercased() == IgnoredTypes.history.lowercased() }
        return marks + names.sorted { $0.key < $1.key }.map(\.value)
    }

    /// From what is known without looking at contents.
    private func reasonToSkip(_ offer: Offer) -> SkipReason? {
        switch offer.state {
        case .sensitive: return .markedSensitive
        case .nil, .clear: return .cleared
        case .data, .unknown: break
        }
        if let type = IgnoredTypes.first(in: offer, editable: ignoredTypes) { return .ignoredType(type) }
        if let application = offer.application, !applications.admits(application) {
            return .ignoredApplication(application)
        }
        let offered = Set(offer.typeNames)
        return offer.data.allSatisfy { offered.contains($0.name) } ? nil : .typesDisagree
    }

    /// Why an offer has nothing that could be kept.
    private func reasonForNothing(_ offer: Offer) -> SkipReason {
        if offer.unread.contains(.tooLarge) { return .tooLarge }
        if offer.unread.contains(.notAnswered) { return .notAnswered }
        let known = offer.data.filter { ContentType(rawValue: $0.name).kind != nil }
        let isEmpty = !known.isEmpty && known.allSatisfy { $0.data.isEmpty }
        return isEmpty || offer.typeNames.isEmpty ? .empty : .noEnabledType
    }

    private func isWhitespace(_ contents: ClipContents) -> Bool {
        guard let text = contents.text(.text) else { return false }
        let isFormatted = [ContentType.rtf, .html].contains { contents[$0]?.isEmpty == false }
        return !isFormatted && text.allSatisfy(\.isWhitespace)
    }

    /// Plain text, also that of HTML, RTF and files' names.
    private func secret(in contents: ClipContents, _ timer: MatchTimer) -> SkipReason? {
        let markup = [ContentType.html, .rtf]
        let patterns = TokenPatterns(words: recoveryWords)
        if skipsTokens {
            let token = contents.parts.lazy.filter { $0.type.kind != .image }
                .compactMap { patterns.first(in: Self.unicode($0.data)) }.first
            if let token { return .token(token) }
        }
        var texts = [contents.text(.text)].compactMap { $0 }
        texts += markup.compactMap { type in
            contents[type].map {
                ItemTitle.text(of: ClipContents([.init(type, $0)]), limit: ItemTitle.markupByteLimit)
            }
        }
        texts += [ItemTitle.files(in: contents).joined(separator: "\n")].filter { !$0.isEmpty }
        if skipsTokens {
            let token = texts.lazy.compactMap { patterns.first(in: $0.utf8) }.first
            if let token { return .token(token) }
        }
        return rules.firstMatch(in: texts, timer)
    }

    /// Converts UTF-16 with a byte order mark, as browsers offer HTML, to UTF-8; returns anything else as it is.
    private static func unicode(_ data: Data) -> Data {
        guard [[0xFF, 0xFE], [0xFE, 0xFF]].contains(Array(data.prefix(2))),
            let text = String(data: data, encoding: .utf16)
        else { return data }
        return Data(text.utf8)
    }
}

/// Types by which programs ask that a copy is not kept.
enum IgnoredTypes {
    /// Ignored whatever the settings are.
    static let always = [
        "org.nspasteboard.AutoGeneratedType", "org.nspasteboard.ConcealedType", "org.nspasteboard.TransientType",
        "x-kde-passwordManagerHint", "application/x-copyq-secret", "application/x-nspasteboard-concealed-type",
        "Clipboard Viewer Ignore", "ExcludeClipboardContentFromMonitorProcessing",
    ]

    /// The default of the setting.
    static let editable = [
        "Pasteboard generator type", "com.agilebits.onepassword", "com.typeit4me.clipping",
        "de.petermaurer.TransientPasteboardType", "net.antelle.keeweb",
    ]

    /// Asks for it with a value that is 0, as Windows programs do over a remote desktop.
    fileprivate static let history = "CanIncludeInClipboardHistory"

    fileprivate static func lowercased(_ editable: [String]) -> Set<String> {
        Set((always + editable).map { $0.lowercased() })
    }

    /// The first ignored type of an offer. In doubt it counts: the mark of KDE with any value, that of Windows unless
    /// its value was read and is not 0.
    static func first(in offer: Offer, editable: [String]) -> String? {
        let names = offer.typeNames + offer.data.map(\.name)
        let ignored = lowercased(editable)
        return names.first { name in
            if ignored.contains(name.lowercased()) { return true }
            guard name.lowercased() == history.lowercased() else { return false }
            let value = offer.data.first { $0.name == name }?.data
            return value?.contains { $0 != 0 && $0 != UInt8(ascii: "0") } != true
        }
    }
}

/// Regular expressions of the user; a copy whose text has a match is not kept.
struct IgnoreRules {
    static let ruleLimit = 64

    /// By the index in the setting.
    private let rules: [(index: Int, expression: GuardedExpression)]
    /// The rules that are skipped, each with the reason; the others work.
    let invalid: [(index: Int, error: InvalidPattern)]

    /// Whether this machine lacks what the rules need.
    private var cannotBeChecked: Bool { invalid.contains { $0.error.lacksLibrary } }

    init(_ patterns: [String], library: ExpressionLibrary? = .installed) {
        var rules: [(index: Int, expression: GuardedExpression)] = []
        var invalid: [(index: Int, error: InvalidPattern)] = []
        for (index, pattern) in patterns.enumerated() {
            do throws(InvalidPattern) {
                guard index < Self.ruleLimit else {
                    throw InvalidPattern(
                        pattern: pattern.shortened(to: 40), reason: "more than \(Self.ruleLimit) rules")
                }
                rules.append((index, try GuardedExpression(pattern, library: library)))
            } catch {
                invalid.append((index, error))
            }
        }
        (self.rules, self.invalid) = (rules, invalid)
    }

    /// The first rule that matches any of the texts, or cannot be evaluated in time or here: what is not known to be no
    /// secret is taken for one.
    func firstMatch(in texts: [String], _ timer: MatchTimer) -> SkipReason? {
        for rule in rules {
            let deadline = timer.deadline()
            for text in texts {
                switch rule.expression.firstMatch(in: text, deadline) {
                case .none: continue
                case .match: return .rule(rule.index, timedOut: false)
                case .undecided: return .rule(rule.index, timedOut: true)
                }
            }
        }
        return cannotBeChecked ? .rulesNotChecked : nil
    }
}
