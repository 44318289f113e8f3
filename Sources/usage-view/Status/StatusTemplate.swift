import ArgumentParser
import UsageState

/// A line of the user's own: text with placeholders in braces.
struct StatusTemplate: Sendable, Equatable {
    private enum Part: Sendable, Equatable {
        case text(String)
        case field(Field)
    }

    enum Field: String, Sendable, CaseIterable {
        case provider, id, account, plan, window, percent, used, left, measure, reset, clock, age
        case pace, out, level, sign, warning
    }

    private let parts: [Part]

    /// `{{` and `}}` are braces.
    init(_ text: String) throws {
        var parts: [Part] = []
        var literal = ""
        var rest = Substring(text)
        while let character = rest.popFirst() {
            switch character {
            case "{" where rest.first == "{", "}" where rest.first == "}":
                literal.append(character)
                rest.removeFirst()
            case "{":
                guard let end = rest.firstIndex(of: "}") else {
                    throw ValidationError("a '{' in the template has no '}'; write '{{' for a brace")
                }
                let name = String(rest[..<end])
                guard let field = Field(rawValue: name) else {
                    throw ValidationError(
                        "unknown placeholder '{\(name)}': there are "
                            + Field.allCases.map { "{\($0.rawValue)}" }.joined(separator: ", "))
                }
                parts += [.text(literal), .field(field)]
                literal = ""
                rest = rest[rest.index(after: end)...]
            case "}":
                throw ValidationError("a '}' in the template has no '{'; write '}}' for a brace")
            default:
                literal.append(character)
            }
        }
        self.parts = parts + [.text(literal)]
    }

    var hasPace: Bool { parts.contains(.field(.pace)) }

    func text(_ fields: UsageFields) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .field(let field): field.value(in: fields)
            }
        }.joined()
    }
}

extension StatusTemplate.Field {
    fileprivate func value(in fields: UsageFields) -> String {
        switch self {
        case .provider: fields.provider
        case .id: fields.id
        case .account: fields.account
        case .plan: fields.plan
        case .window: fields.window
        case .percent: fields.percent
        case .used: fields.used
        case .left: fields.left
        case .measure: fields.measure
        case .reset: fields.reset
        case .clock: fields.clock
        case .age: fields.age
        case .pace: fields.pace
        case .out: fields.out
        case .level: fields.level
        case .sign: fields.sign
        case .warning: fields.warning ?? fields.absence ?? ""
        }
    }
}
