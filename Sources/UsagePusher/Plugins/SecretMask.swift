import Commands

/// Replaces what looks like a credential in text of other programs.
package enum SecretMask {
    /// No more is shown of any text.
    private static let characterLimit = 1_000

    /// The beginning of a text, masked.
    package static func masked(_ text: String) -> String {
        // Where something is named, the name stays: "token=…", "Authorization: Bearer …".
        let named =
            /(?i)((?:token|secret|password|passwd|cookie|key|authorization)["']?\s*[=:]\s*["']?)(?:bearer\s+|basic\s+)?[^\s"',;]+/
        let schemes = /(?i)\b(?:bearer|basic)\s+[^\s"',;]+/
        let prefixes = /\b(?:sk|pk|sess|ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[a-z]|AKIA|AIza|eyJ)[\-_A-Za-z0-9.]{6,}/
        // Letters and digits mixed, as in hexadecimal digits and most of Base64; with slashes unless it may be a path.
        let mixed = /(?=[A-Za-z_+\-]*[0-9])(?=[0-9_+\-]*[A-Za-z])[A-Za-z0-9_+\-]{16,}=*/
        let digits = /[0-9]{24,}/
        let base64 = /(?=[A-Za-z0-9\/]*[+=])[A-Za-z0-9+\/]{24,}=*/
        var masked = String(text.prefix(characterLimit)).replacing(named) { String($0.output.1) + String.hidden }
            .hidingLogins
        for pattern in [schemes, prefixes, mixed, digits, base64] {
            masked = masked.replacing(pattern, with: String.hidden)
        }
        return masked
    }
}
