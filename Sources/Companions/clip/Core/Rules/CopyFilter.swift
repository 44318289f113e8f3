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

/// Whether copies are ignored: all of them, or the next one.
struct PauseState: Codable, Hashable, Sendable {
    private(set) var isPaused = false
    private(set) var isOnlyNext = false

    mutating func pause(onlyNext: Bool = false) {
        (isPaused, isOnlyNext) = (true, onlyNext)
    }

    mutating func resume() { self = PauseState() }

    /// Whether a copy is looked at. After the one that is ignored alone, the next is again.
    mutating func admitsCopy() -> Bool {
        guard isPaused else { return true }
        if isOnlyNext { resume() }
        return false
    }
}
