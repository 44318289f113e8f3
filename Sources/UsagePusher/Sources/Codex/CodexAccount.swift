import Essentials

/// The account logged in to Codex, from the named fields of `auth.json`. Contains no token.
struct CodexAccount: Sendable, Hashable {
    /// The fingerprint of the workspace and the user in it; nil when the file names none.
    var id: String?
    /// The fingerprints of the workspace and the user alone: a session names one of them as its creator.
    private var ids: Set<String> = []
    /// That of its address.
    private var address: String?
    var email: String?
    /// The raw plan name in the token.
    var plan: String?
    var usesAPIKey: Bool
    /// When the token, and with it `plan`, was issued.
    var refreshedAt: Date?
    /// When the user logged in, where the token says so. It stays when the token is renewed.
    private var authenticatedAt: Date?

    init(authentication fields: JSONFields) {
        let tokens = fields.fields("tokens")
        let mode = fields.text("auth_mode")?.lowercased().filter(\.isLetter)
        usesAPIKey = mode.map { $0 == "apikey" } ?? (tokens == nil && fields.text("OPENAI_API_KEY") != nil)
        refreshedAt = fields.date("last_refresh")
        if usesAPIKey { id = "api-key".fingerprint }
        guard !usesAPIKey, let claims = tokens?.text("id_token").flatMap(Self.claims(of:)) else { return }
        let address = claims.text("email") ?? claims.fields("https://api.openai.com/profile")?.text("email")
        email = address?.displayText()
        self.address = address?.lowercased().fingerprint
        let authentication = claims.fields("https://api.openai.com/auth")
        plan = authentication?.text("chatgpt_plan_type")?.displayText(limit: 64)
        let workspace = tokens?.text("account_id") ?? authentication?.text("chatgpt_account_id")
        let user = authentication?.text("chatgpt_user_id") ?? email
        authenticatedAt = claims.date("auth_time")
        let names = [workspace, user].compactMap { $0 }
        ids = Set(names.map(\.fingerprint))
        id = names.isEmpty ? nil : names.joined(separator: "/").fingerprint
    }

    /// What contradicts that a reading is of this account.
    ///
    /// Without the time of the login, that of the token's last renewal stands for it: it comes shortly before a
    /// request, and with it the next reading.
    func conflict(with reading: LimitReading, at now: Date) -> LoginConflict? {
        // A login in the future is a wrong clock's.
        let isNewer = { (time: Date?) in
            time.map { $0 > reading.observedAt && $0 <= now } ?? false
        }
        if let creator = reading.creator, !ids.isEmpty, !ids.contains(creator) { return .account }
        if let plan, let stated = reading.plan, CodexPlan.displayName(stated) != nil,
            plan.lowercased() != stated.lowercased(), isNewer(refreshedAt)
        {
            return .plan
        }
        return reading.creator == nil && isNewer(authenticatedAt ?? refreshedAt) ? .login : nil
    }

    /// Whether an answer of Codex is about this account; nil when it does not say.
    func owns(_ answer: CodexAnswer) -> Bool? {
        let isSameAddress = address == nil || answer.address == nil ? nil : address == answer.address
        if isSameAddress == false { return false }
        if !ids.isDisjoint(with: answer.workspaces) { return true }
        // One address may have several accounts, and an id may be one that the login does not name.
        return isSameAddress == true || ids.isEmpty || answer.workspaces.isEmpty ? nil : false
    }

    /// The claims of a JSON web token. The signature is not verified: the file is the user's own,
    /// and the claims grant nothing.
    private static func claims(of token: String) -> JSONFields? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        var base64 = String(parts[1]).replacing("-", with: "+").replacing("_", with: "/")
        base64 += String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
        return Data(base64Encoded: base64).flatMap { JSONFields($0) }
    }
}

/// Plan names as shown.
enum CodexPlan {
    /// Nil for "unknown" and for an implausible name.
    static func displayName(_ raw: String) -> String? {
        switch raw.lowercased() {
        case "unknown", "": return nil
        case "pro": return "Pro 20x"
        case "prolite": return "Pro 5x"
        case "self_serve_business_usage_based": return "Business"
        case "enterprise_cbp_usage_based": return "Enterprise"
        case let plan:
            let words = plan.split { $0 == "_" || $0 == " " }
            guard plan.count <= 40,
                words.allSatisfy({ $0.allSatisfy { $0.isLetter || $0.isNumber } })
            else { return nil }
            let name = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined(separator: " ")
            return name.isEmpty ? nil : name
        }
    }
}
