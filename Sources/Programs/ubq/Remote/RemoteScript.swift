/// What is run on another machine, as scripts of `/bin/sh`. The package is a directory of its own, to which links in
/// `~/.local/bin` lead; files of others stay.
enum RemoteScript {
    /// Prints lines of a word and its value, and leaves no trace.
    static let probe = """
        echo "kind $(uname -s) $(uname -m)"
        echo "client ${SSH_CONNECTION%% *}"
        echo "free $(df -Pk "$HOME" 2>/dev/null | awk 'NR == 2 { print $4 }')"
        if mkdir "$HOME/.ubq-probe.$$" 2>/dev/null; then rmdir "$HOME/.ubq-probe.$$"; echo "home writable"; fi
        for ubq in "$HOME/.local/lib/ubiquity/bin/ubq" "$(command -v ubq)" "$HOME/.local/bin/ubq" /usr/bin/ubq; do
            if [ -x "$ubq" ]; then echo "ubq $("$ubq" --version) $ubq"; break; fi
        done

        """

    /// Reads an archive from standard input, and takes the place of an earlier package at once.
    ///
    /// - Parameter stripped: leading directories of its names to leave out.
    static func install(stripped: Int) -> String {
        """
        set -eu
        local=$HOME/.local
        package=$local/lib/ubiquity
        made=$(cat "$package/made" 2>/dev/null || true)
        for directory in "$local" "$local/bin" "$local/lib"; do
            if mkdir "$directory" 2>/dev/null; then made="$directory
        $made"; fi
        done
        rm -rf "$package.new" "$package.old"
        mkdir "$package.new"
        tar -xzf - -C "$package.new" --strip-components \(stripped)
        printf '%s\\n' "$made" >"$package.new/made"
        "$package.new/bin/ubq" --version >/dev/null
        if [ -e "$package" ]; then mv "$package" "$package.old"; fi
        mv "$package.new" "$package"
        rm -rf "$package.old"
        for program in "$package"/bin/*; do
            link=$local/bin/${program##*/}
            if [ ! -e "$link" ] || [ -L "$link" ]; then ln -sfn "../lib/ubiquity/bin/${program##*/}" "$link"; fi
        done

        """
    }

    /// Joins with the line on standard input, and keeps services running without a login. Ends with the state of the
    /// store there, after a line of its own.
    ///
    /// - Parameter ubq: its path.
    static func join(_ ubq: String, options: [String]) -> String {
        """
        set -eu
        ubq=\(ubq)
        "$ubq" join - --yes --no-bars \(options.joined(separator: " "))
        loginctl enable-linger >/dev/null 2>&1 || true
        echo "\(stateMark)"
        "$ubq" kvs status --json

        """
    }

    static let stateMark = "-- state --"

    /// Undoes `join`, then `install`.
    static let remove = """
        set -eu
        local=$HOME/.local
        package=$local/lib/ubiquity
        ubq=$package/bin/ubq
        [ -x "$ubq" ] || ubq=$(command -v ubq) || { echo "nothing is installed" >&2; exit 66; }
        echo "\(stateMark)"
        "$ubq" kvs status --json --no-sync || true
        "$ubq" leave --yes >&2
        [ -e "$package/made" ] || exit 0
        for program in "$package"/bin/*; do
            link=$local/bin/${program##*/}
            if [ "$(readlink "$link" 2>/dev/null)" = "../lib/ubiquity/bin/${program##*/}" ]; then rm "$link"; fi
        done
        made=$(cat "$package/made")
        rm -rf "$package"
        printf '%s\\n' "$made" | while IFS= read -r directory; do
            if [ -n "$directory" ]; then rmdir "$directory" 2>/dev/null || true; fi
        done

        """
}
