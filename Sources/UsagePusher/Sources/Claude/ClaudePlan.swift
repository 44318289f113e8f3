import Essentials

/// The plan's name as shown: "Pro", "Max 5x".
enum ClaudePlan {
    /// The plan as `.credentials.json` states it; contains no token.
    struct Credentials: Sendable, Hashable {
        var subscription: String?
        var rateLimitTier: String?

        /// Nil when the file contains only logins to other services.
        init?(_ document: JSONFields) {
            guard let login = document.fields("claudeAiOauth") else { return nil }
            subscription = login.text("subscriptionType")
            rateLimitTier = login.text("rateLimitTier")
        }
    }

    static func displayName(account: ClaudeState.Account?, credentials: Credentials?) -> String? {
        let raw = account?.organizationType ?? credentials?.subscription
        guard let raw, let base = name(raw) else { return nil }
        let tiers = [account?.rateLimitTier, credentials?.rateLimitTier].compactMap { $0 }
        guard let multiple = tiers.lazy.compactMap(multiple(of:)).first else { return base }
        return base + " " + multiple
    }

    /// "claude_max" and "max" → "Max".
    private static func name(_ raw: String) -> String? {
        let plain = raw.lowercased()
        let words = (plain.hasPrefix("claude_") ? plain.dropFirst("claude_".count) : plain[...]).split(separator: "_")
        guard !words.isEmpty, raw.count <= 40,
            words.allSatisfy({ $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } })
        else { return nil }
        return words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined(separator: " ")
    }

    /// "default_claude_max_5x" → "5x".
    private static func multiple(of tier: String) -> String? {
        guard let last = tier.split(separator: "_").last, last.hasSuffix("x"),
            (1...4).contains(last.count - 1),
            last.dropLast().allSatisfy({ $0.isASCII && $0.isNumber })
        else { return nil }
        return String(last)
    }
}
