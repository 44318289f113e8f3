/// What is known of programs by their names: which execute what they are given, and which start another one with it.
struct CommandProgram {
    /// Without its directory and version: `python` for `/usr/bin/python3.12`.
    let name: String

    init(_ word: String) {
        let last = word.split(separator: "/").last.map(String.init) ?? word
        var name = last.lowercased()[...]
        while let end = name.last, end.isNumber || end == "." || end == "-" { name.removeLast() }
        self.name = String(name)
    }

    /// Whether it executes arguments, or what is in a file that they name. By a name that is hardly a word of another
    /// command, so that it counts wherever it stands: what stands before it may start it.
    var executesAnywhere: Bool { Self.interpreters.contains(name) }

    /// The same where the program stands. Elsewhere, as in `mu view` or `mail find`, the name is a word like others.
    var executes: Bool { executesAnywhere || Self.executing.contains(name) }

    /// How it names the program that it starts; nil unless it only does that.
    var wrapper: Wrapper? { Self.wrappers[name] }

    private static let interpreters: Set = [
        "ash", "awk", "bash", "bun", "busybox", "clisp", "csh", "dash", "deno", "elvish", "emacs", "emacsclient", "erl",
        "expect", "fish", "gawk", "gdb", "ghci", "gjs", "groovy", "guile", "iex", "ipython", "irb", "julia", "ksh",
        "lua", "luajit", "mawk", "mksh", "mutt", "nawk", "neomutt", "node", "nodejs", "nvim", "ocaml", "osascript",
        "perl", "php", "posh", "pwsh", "pypy", "python", "pythonw", "racket", "rbash", "rscript", "ruby", "runghc",
        "sbcl", "sh", "tclsh", "tcsh", "toybox", "vim", "vimdiff", "gvim", "wish", "xonsh", "yash", "zsh", "ssh",
        "mosh", "xargs", "tmux", "powershell",
    ]

    /// By an option, a file, a line of commands, or a shell that gets all arguments.
    private static let executing: Set = [
        "at", "batch", "bc", "byobu", "cargo", "cmake", "cpulimit", "crontab", "dbus-run-session", "dc", "distrobox",
        "docker", "ed", "editor", "elixir", "entr", "eval", "ex", "exec", "fd", "find", "flatpak", "flock", "ftp",
        "gcc", "git", "go", "hyprctl", "i3-msg", "java", "jshell", "kubectl", "less", "lftp", "machinectl", "make",
        "man", "more", "most", "mysql", "ninja", "nix", "nix-shell", "npm", "npx", "nsenter", "nu", "octave", "pager",
        "parallel", "pip", "pipx", "pkexec", "podman", "poetry", "psql", "r", "rake", "rc", "rsync", "runuser", "scp",
        "screen", "script", "sed", "sensible-editor", "sensible-pager", "sftp", "snap", "socat", "source", "sqlite",
        "su", "swaymsg", "swift", "systemctl", "tar", "tcpdump", "telnet", "toolbox", "unshare", "uv", "uvx", "vi",
        "view", "vipe", "watch", "wsl", "wtype", "xdotool", "zip",
    ]

    /// A program that starts the one that its arguments name. A form that is not known is refused: the id could be the
    /// program.
    struct Wrapper {
        /// Options without a value.
        var flags: Set<String> = []
        /// Options whose value is the next word.
        var valued: Set<String> = []
        /// Words between the options and the program.
        var positionals = 0
        /// Whether `NAME=value` may stand before the program.
        var takesVariables = false
        /// The program follows one of these, and before it is any option; nil if the program follows the options.
        var markers: Set<String>?

        /// The index of the program in the words after that of the wrapper; nil unless that is certain.
        func program(in words: ArraySlice<String>) -> Int? {
            if let markers {
                guard let marker = words.firstIndex(where: markers.contains) else { return nil }
                return marker + 1 < words.endIndex ? marker + 1 : nil
            }
            var index = words.startIndex
            while index < words.endIndex {
                let word = words[index]
                if word == "--" {
                    index += 1
                    break
                }
                if flags.contains(word) || word.hasPrefix("--") && word.contains("=")
                    || takesVariables && !word.hasPrefix("-") && word.contains("=")
                {
                    index += 1
                } else if valued.contains(word) {
                    index += 2
                } else if word.hasPrefix("-") {
                    return nil
                } else {
                    break
                }
            }
            index += positionals
            return index < words.endIndex ? index : nil
        }
    }

    private static let terminal = Wrapper(markers: ["-e", "-x", "--"])

    private static let wrappers: [String: Wrapper] = [
        "env": Wrapper(
            flags: ["-i", "-v", "-", "--ignore-environment"],
            valued: ["-u", "-C", "--unset", "--chdir"], takesVariables: true),
        "nohup": Wrapper(), "command": Wrapper(), "uwsm-app": Wrapper(), "app2unit": Wrapper(),
        "setsid": Wrapper(flags: ["-c", "-f", "-w", "--ctty", "--fork", "--wait"]),
        "time": Wrapper(flags: ["-p", "-v"]),
        "nice": Wrapper(valued: ["-n", "--adjustment"]),
        "ionice": Wrapper(flags: ["-t"], valued: ["-c", "-n", "--class", "--classdata"]),
        "stdbuf": Wrapper(valued: ["-i", "-o", "-e", "--input", "--output", "--error"]),
        "timeout": Wrapper(
            flags: ["-v", "--foreground", "--preserve-status"],
            valued: ["-k", "-s", "--kill-after", "--signal"], positionals: 1),
        "sudo": Wrapper(
            flags: ["-n", "-b", "-E", "-H", "-A", "--background", "--non-interactive"],
            valued: ["-u", "-g", "--user", "--group"], takesVariables: true),
        "doas": Wrapper(flags: ["-n"], valued: ["-u"]),
        "flatpak-spawn": Wrapper(flags: ["--host", "--watch-bus", "--clear-env"]),
        "systemd-run": Wrapper(
            flags: ["--user", "--scope", "--quiet", "--collect", "--no-block", "-q", "-G"],
            valued: ["-p", "-u", "-E", "--property", "--unit", "--setenv"]),
        "foot": Wrapper(
            flags: ["-F", "-m", "--fullscreen", "--maximized", "-H", "--hold"],
            valued: ["-a", "-T", "-t", "-f", "-c", "-D", "-w", "-W", "-o"]),
        "footclient": Wrapper(
            flags: ["-N", "-H", "--no-wait", "--hold"], valued: ["-a", "-T", "-t", "-D", "-w", "-W", "-s", "-o"]),
        "kitty": Wrapper(
            flags: ["-1", "--single-instance", "--hold", "--detach"],
            valued: ["-T", "-d", "-o", "-c", "--title", "--class", "--directory", "--config"]),
        "xterm": terminal, "uxterm": terminal, "urxvt": terminal, "rxvt": terminal, "st": terminal,
        "alacritty": terminal, "konsole": terminal, "xfce4-terminal": terminal, "kgx": terminal,
        "mate-terminal": terminal, "gnome-terminal": terminal, "ptyxis": terminal,
        "terminator": terminal, "tilix": terminal, "lxterminal": terminal, "qterminal": terminal,
        "wezterm": terminal, "ghostty": terminal, "x-terminal-emulator": terminal,
    ]
}
