import ArgumentParser
import Commands

/// What shells load to complete `ubq`: the script of its own commands, which hands `ubq view …` to the script of
/// `usage-view`, and so on. Pure.
struct CompletionScript {
    let text: String

    /// Nil unless these are the arguments that ask for it.
    init?(askedFor arguments: [String]) {
        guard arguments.count == 2, arguments[0] == "--generate-completion-script",
            let shell = CompletionShell(rawValue: arguments[1])
        else { return nil }
        let own = Ubq.completionScript(for: shell)
        switch shell {
        case .bash: text = own.replacing("\n_ubq() {\n", with: "\n_ubq() {\n" + Self.bash, maxReplacements: 1)
        case .zsh: text = own.replacing("\n_ubq() {\n", with: "\n_ubq() {\n" + Self.zsh, maxReplacements: 1)
        case .fish: text = own + "\n" + Self.fish
        default: return nil
        }
    }

    private static let names = ["view", "push", "kvs", "daemon", "clip", "link"]

    /// Lines of a `case` of bash and zsh.
    private static var cases: String {
        names.compactMap { name in Sibling.named(name).map { "    \(name)) program=\($0.installedName) ;;\n" } }
            .joined()
    }

    /// Its script is loaded if it has not been, and is shown the line as if it began with that program.
    private static var bash: String {
        """
            local program=
            [[ "${COMP_CWORD}" -lt 2 ]] || case "${COMP_WORDS[1]}" in
        \(cases)    esac
            if [[ -n "${program}" ]]; then
                declare -F "_${program}" >/dev/null \\
                    || eval "$("${COMP_WORDS[0]}" "${COMP_WORDS[1]}" --generate-completion-script bash)"
                local arguments="${COMP_LINE#*"${COMP_WORDS[0]}"}"
                arguments="${arguments#*"${COMP_WORDS[1]}"}"
                COMP_POINT="$((COMP_POINT - ${#COMP_LINE} + ${#program} + ${#arguments}))"
                COMP_LINE="${program}${arguments}"
                COMP_WORDS=("${program}" "${COMP_WORDS[@]:2}")
                COMP_CWORD="$((COMP_CWORD - 1))"
                "_${program}" "${program}" "${2}" "${COMP_WORDS[COMP_CWORD - 1]}"
                return
            fi
            [[ "${COMP_CWORD}" -ne 1 ]] || COMPREPLY+=($(compgen -W '\(names.joined(separator: " "))' -- "${2}"))

        """
    }

    private static var zsh: String {
        let descriptions = names.compactMap { name in Sibling.named(name).map { "'\(name):\($0.installedName)'" } }
        return """
                local program=
                (( CURRENT < 3 )) || case "${words[2]}" in
            \(cases)    esac
                if [[ -n "${program}" ]]; then
                    shift words
                    words[1]="${program}"
                    (( CURRENT -= 1 ))
                    _normal
                    return
                fi
                if (( CURRENT == 2 )); then
                    local -a programs=(\(descriptions.joined(separator: " ")))
                    _describe program programs
                fi

            """
    }

    private static var fish: String {
        let cases = names.compactMap { name in
            Sibling.named(name).map { "        case \(name)\n            set program \($0.installedName)\n" }
        }.joined()
        let words = names.compactMap { name in
            Sibling.named(name).map {
                "complete -c ubq -n 'test (count (commandline -opc)) -eq 1' -fa \(name) -d \($0.installedName)\n"
            }
        }.joined()
        return """
            function __ubq_other_program
                set -l words (commandline -opc)
                set -l program
                switch "$words[2]"
            \(cases)        case '*'
                        return 1
                end
                string join ' ' -- $program (string escape -- $words[3..]) (commandline -ct)
            end

            functions -q __ubq_parse_own_tokens
                or functions -c __ubq_parse_tokens __ubq_parse_own_tokens
            function __ubq_parse_tokens -S
                __ubq_parse_own_tokens
                if __ubq_other_program >/dev/null
                    set commands
                end
            end

            complete -c ubq -n __ubq_other_program -fa '(complete -C (__ubq_other_program))'
            \(words)
            """
    }
}
