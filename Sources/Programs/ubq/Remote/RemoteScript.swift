/// What is run on another machine, as scripts of `/bin/sh`. The package is a directory of its own, to which links in
/// `~/.local/bin` lead; files of others stay.
enum RemoteScript {
    /// Prints lines of a word and its value, and leaves no trace. Programs that were copied in part are none.
    static let probe = """
        echo "kind $(uname -s) $(uname -m)"
        echo "client ${SSH_CONNECTION%% *}"
        echo "free $(df -Pk "$HOME" 2>/dev/null | awk 'NR == 2 { print $4 }')"
        if mkdir "$HOME/.ubq-probe.$$" 2>/dev/null; then rmdir "$HOME/.ubq-probe.$$"; echo "home writable"; fi
        [ ! -e "$HOME/.ubq-add" ] || exit 0
        for ubq in "$HOME/.local/lib/ubiquity/bin/ubq" "$(command -v ubq)" "$HOME/.local/bin/ubq" /usr/bin/ubq; do
            if [ -x "$ubq" ]; then echo "ubq $("$ubq" --version) $ubq"; break; fi
        done

        """

    private static let paths = """
        set -eu
        local=$HOME/.local
        package=$local/lib/ubiquity
        # What 'remove' has to remove; here while programs are copied or removed, then in the package.
        unfinished=$HOME/.ubq-add
        # Each waits for others that copy, join or remove; without flock(1), none does.
        exec 9<"$HOME"
        flock 9 2>/dev/null || true
        made=$(cat "$unfinished" "$package/made" "$package.old/made" 2>/dev/null || true)

        """

    /// Reads an archive from standard input, and takes the place of an earlier package at once. Ended anywhere, it can
    /// be run again, or undone.
    ///
    /// - Parameters:
    ///   - directory: of the package.
    ///   - stripped: leading directories of its names to leave out.
    static func install(into directory: String, stripped: Int) -> String {
        paths + """
            for directory in "$local" "$local/bin" "$local/lib"; do
                if [ ! -e "$directory" ]; then made="$directory
            $made"; fi
            done
            printf '%s\\n' "$made" >"$unfinished"
            mkdir -p "$local/bin" "$local/lib"
            new=$package.new.$$
            rm -rf "$new"
            # Others that are at work keep theirs.
            for other in "$package".new.*; do kill -0 "${other##*.}" 2>/dev/null || rm -rf "$other"; done
            mkdir "$new" "$new/bin"
            flock -u 9 2>/dev/null || true
            tar -xzf - -C "$new/\(directory)" --strip-components \(stripped)
            printf '%s\\n' "$made" >"$new/made"
            "$new/bin/ubq" --version >/dev/null
            flock 9 2>/dev/null || true
            rm -rf "$package.old"
            if [ -e "$package" ]; then mv "$package" "$package.old"; fi
            mv "$new" "$package"
            rm -rf "$package.old"
            for program in "$package"/bin/*; do
                link=$local/bin/${program##*/}
                if [ ! -e "$link" ] || [ -L "$link" ]; then ln -sfn "../lib/ubiquity/bin/${program##*/}" "$link"; fi
            done
            rm -f "$unfinished"

            """
    }

    /// Joins with the line on standard input. Ends with the state of the store there, after a line of its own.
    ///
    /// - Parameters:
    ///   - ubq: its path.
    ///   - servesWithoutLogin: whether services are kept running without a login.
    static func join(_ ubq: String, options: [String], servesWithoutLogin: Bool) -> String {
        """
        set -eu
        ubq=\(ubq)
        # As a login has it: services are to have paths that it finds.
        PATH=$HOME/.local/bin:$PATH
        exec 9<"$HOME"
        flock -s 9 2>/dev/null || true
        "$ubq" join - --yes --no-bars \(options.joined(separator: " ")) 9<&-
        \(servesWithoutLogin ? linger : "")
        echo "\(stateMark)"
        "$ubq" kvs status --json

        """
    }

    /// Prints which tools' files are there, as JSON.
    static func sources(_ ubq: String) -> String { "\(ubq) push sources --json" }

    static let stateMark = "-- state --"
    /// Before what a person should know.
    static let warningMark = "! "

    /// There if 'add' has let services run without a login.
    private static let lingering = """
        lingering=${UBIQUITY_STATE_DIR:-${XDG_STATE_HOME:-$HOME/.local/state}/ubiquity}/lingering-by-add

        """

    private static let linger =
        lingering + """
            user=$(id -un 2>/dev/null || id -u)
            lingers=$(loginctl show-user "$user" --property=Linger --value 2>/dev/null || true)
            if command -v loginctl >/dev/null && [ "$lingers" != yes ] && touch "$lingering"; then
                if ! loginctl enable-linger >/dev/null 2>&1; then
                    rm "$lingering"
                    if "$ubq" push service status >/dev/null 2>&1; then
                        advice="there: sudo loginctl enable-linger $user"
                        echo "\(warningMark)its service ends with the last login; $advice"
                    fi
                fi
            fi
            """

    /// Undoes `join`, then `install`, however far they came.
    static let remove =
        paths + lingering + """
            ubq=
            for program in "$(command -v ubq)" "$package.old/bin/ubq" "$package/bin/ubq"; do
                [ ! -x "$program" ] || ubq=$program
            done
            if [ -n "$ubq" ]; then
                echo "\(stateMark)"
                "$ubq" kvs status --json --no-sync || true
                "$ubq" leave --yes >&2
            elif [ ! -e "$unfinished" ]; then
                echo "nothing is installed" >&2
                exit 66
            fi
            if [ -e "$lingering" ] && loginctl disable-linger >/dev/null 2>&1; then rm "$lingering"; fi
            [ -e "$package/made" ] || [ -e "$unfinished" ] || exit 0
            printf '%s\\n' "$made" >"$unfinished"
            for link in "$local"/bin/*; do
                case $(readlink "$link") in ../lib/ubiquity/bin/*) rm "$link" ;; esac
            done
            rm -rf "$package" "$package".new.* "$package.old"
            printf '%s\\n' "$made" | while IFS= read -r directory; do
                if [ -n "$directory" ]; then rmdir "$directory" 2>/dev/null || true; fi
            done
            rm "$unfinished"

            """
}
