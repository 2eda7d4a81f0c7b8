#if PostgreSQL
internal import Foundation
internal import Predicates
internal import SQLQueries

/// Why a database with the tables of another program has no functions for predicates.
enum MissingFunctions: Sendable {
    /// The store is opened read-only, and creates nothing.
    case readOnly
    /// The server is a standby, on which no function can be created.
    case standby
    /// The server did not let the user create them.
    case refused(String)

    var reason: String {
        switch self {
        case .readOnly: "and a store that is opened for reading only creates none"
        case .standby: "and the server is a standby, on which none can be created"
        case .refused(let message): "and its user may not create them: \(message)"
        }
    }

    /// The advice to the user.
    var next: String {
        let schema = "the schema “\(ServerFunctions.schema)”"
        switch self {
        case .readOnly: return "Open the store once for writing, which creates \(schema) with them, or filter the objects in the program."
        case .standby:
            return "Open the store once for writing on the primary, which creates \(schema), or filter the objects in the program."
        case .refused: return "Open the store once as a user who may create \(schema), or filter the objects in the program."
        }
    }
}

/// The functions that a store keeps in its database, for operations in which PostgreSQL's SQL differs from the evaluator.
enum ServerFunctions {
    /// The prefix of all names.
    static let prefix = "coredata_"
    /// The schema of the functions in a database whose tables are another program's.
    static let schema = "coredata"
    /// The version of the functions, which is the comment of that schema.
    static let version = "Functions of OpenCoreData, version 1"

    /// The statements that create the functions.
    static let definitions: [String] =
        numbers + dates + [
            function("coredata_marks()", "text", literal("[\(marks)]")),
            // Whether the characters after a match do not belong to its last character.
            function(
                "coredata_is_boundary(next text)", "boolean",
                "octet_length(next) < 2 OR next !~ coredata_marks()"),
            function(
                "coredata_length(value text)", "bigint",
                """
                CASE WHEN octet_length(value) = char_length(value) AND strpos(value, chr(1)) = 0 THEN char_length(value)
                ELSE char_length(value) + char_length(regexp_replace(value, '[^\\U00010000-\\U0010FFFF]', '', 'g'))
                    - (char_length(value) - char_length(regexp_replace(value, '\\u0001[\\u0001\\u0002]', '', 'g'))) / 2 END
                """),
            function(
                "coredata_begins(value text, part text)", "boolean",
                "CASE WHEN value IS NOT NULL THEN (part <> '' AND starts_with(value, part) AND coredata_is_boundary(substr(value, char_length(part) + 1, 1))) "
                    + "END"),
            function(
                "coredata_ends(value text, part text)", "boolean",
                "CASE WHEN value IS NOT NULL THEN (part <> '' AND right(value, char_length(part)) = part AND coredata_is_boundary(left(part, 1))) "
                    + "END"),
            function(
                "coredata_contains(value text, part text)", "boolean",
                """
                CASE WHEN part IS NULL THEN NULL WHEN part = '' OR strpos(value, part) = 0 THEN value IS NULL AND NULL
                WHEN octet_length(value) = char_length(value) OR value !~ coredata_marks() THEN TRUE
                ELSE value ~ (regexp_replace(part, '([][\\\\.^$*+?(){}|])', '\\\\\\1', 'g') || '(?!' || coredata_marks() || ')') END
                """),
            likePattern, foldUnicode,
            function(
                "coredata_fold(value text, options bigint)", "text",
                """
                CASE WHEN octet_length(value) = char_length(value)
                THEN CASE WHEN options IN (1, 3) THEN lower(value COLLATE "C") ELSE value END
                ELSE coredata_fold_unicode(value, options) END
                """),
        ]

    private static let numbers = [
        function("coredata_number(value bigint)", "numeric", "CAST(value AS numeric)"),
        function("coredata_number(value integer)", "numeric", "CAST(value AS numeric)"),
        function("coredata_number(value numeric)", "numeric", "value"),
        function("coredata_number(value double precision)", "numeric", "CAST(CAST(value AS text) AS numeric)"),
        function("coredata_sqrt(value double precision)", "double precision", "CASE WHEN value >= 0 THEN sqrt(value) END"),
        function(
            "coredata_ln(value double precision)", "double precision",
            "CASE WHEN value > 0 THEN ln(value) WHEN value = 0 THEN '-Infinity' END"),
        function(
            "coredata_log(value double precision)", "double precision",
            "CASE WHEN value > 0 THEN log(value) WHEN value = 0 THEN '-Infinity' END"),
    ]

    private static let dates = [
        // A date beyond PostgreSQL's range is infinite.
        function(
            "coredata_moved(moment timestamptz, seconds double precision)", "timestamptz",
            """
            CASE WHEN moment IS NULL OR seconds <> seconds THEN NULL WHEN seconds > 1e11 THEN TIMESTAMPTZ 'infinity'
            WHEN seconds < -1e11 THEN TIMESTAMPTZ '-infinity' ELSE moment + seconds * INTERVAL '1 second' END
            """)
    ]

    private static func function(_ signature: String, _ type: String, _ body: String) -> String {
        "CREATE OR REPLACE FUNCTION \(signature) RETURNS \(type) LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN \(body)"
    }

    private static func literal(_ text: String) -> String { "'" + text.replacing("'", with: "''") + "'" }

    // MARK: LIKE

    /// Makes a regular expression of a pattern of the predicate language: `?` is a character with its marks, and U+0000 and U+0001 are two
    /// in columns.
    private static var likePattern: String {
        """
        CREATE OR REPLACE FUNCTION coredata_like_pattern(pattern text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $code$
        DECLARE
            result text := '^';
            sign text;
            escaped boolean := false;
        BEGIN
            IF pattern IS NULL THEN RETURN NULL; END IF;
            FOR place IN 1..char_length(pattern) LOOP
                sign := substr(pattern, place, 1);
                IF NOT escaped AND sign = '\\' THEN
                    escaped := true;
                    CONTINUE;
                ELSIF NOT escaped AND sign = '*' THEN
                    result := result || '.*';
                ELSIF NOT escaped AND sign = '?' THEN
                    result := result || '(?:(?:\\u0001.|[^\\u0001])[\(extending)]*)';
                ELSE
                    result := result || regexp_replace(sign, '([][\\\\.^$*+?(){}|])', '\\\\\\1');
                    IF coredata_is_boundary(substr(pattern, place + 1, 1)) THEN result := result || '(?![\(extending)])'; END IF;
                END IF;
                escaped := false;
            END LOOP;
            IF escaped THEN result := result || '\\\\'; END IF;
            RETURN result || '$';
        END $code$
        """
    }

    // MARK: Characters

    /// Returns the scalars that satisfy a condition as ranges of a regular expression's brackets.
    private static func ranges(_ isIncluded: (Unicode.Scalar) -> Bool) -> String {
        var result = ""
        var start: UInt32?
        func escape(_ value: UInt32) -> String {
            let digits = String(value, radix: 16)
            return value > 0xFFFF
                ? "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
                : "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
        // The last are the tags and selectors of variants.
        for value in Array(UInt32(0x300)...0x33FF) + Array(0xA600...0x1FFFF) + Array(0xE0000...0xE0200) {
            let isIn = Unicode.Scalar(value).map(isIncluded) ?? false
            if isIn, start == nil { start = value }
            if !isIn, let first = start {
                result += value - 1 == first ? escape(first) : "\(escape(first))-\(escape(value - 1))"
                start = nil
            }
        }
        return result
    }

    /// The marks that belong to the character before them.
    private static let marks = ranges { scalar in
        let category = scalar.properties.generalCategory
        return category == .nonspacingMark || category == .enclosingMark
    }

    /// The scalars that make one character with that before them.
    private static let extending = ranges { scalar in
        guard scalar.properties.generalCategory != .unassigned else { return false }
        return ("a" + String(Character(scalar))).count == 1
    }

    /// Folds case and diacritics as Foundation does: scalar by scalar in composed form.
    private static var foldUnicode: String {
        var cases = ""
        for options in [PredicateComparison.Options.caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive]] {
            let folding = Folding(options)
            let number = (options.contains(.caseInsensitive) ? 1 : 0) + (options.contains(.diacriticInsensitive) ? 2 : 0)
            cases += "\n    IF options = \(number) THEN\n"
            if options.contains(.diacriticInsensitive) {
                cases += "        result := regexp_replace(result, '([\\u0001-\\u050F])[\(marks)]+', '\\1', 'g');\n"
            }
            cases += "        result := translate(result, \(literal(folding.single.from)), \(literal(folding.single.to)));\n"
            if !folding.multiple.isEmpty {
                cases += "        IF result ~ \(literal("[" + folding.multiple.map(\.from).joined() + "]")) THEN\n"
                for pair in folding.multiple {
                    cases += "            result := replace(result, \(literal(pair.from)), \(literal(pair.to)));\n"
                }
                cases += "        END IF;\n"
            }
            cases += "    END IF;"
        }
        return """
            CREATE OR REPLACE FUNCTION coredata_fold_unicode(value text, options bigint) RETURNS text LANGUAGE plpgsql
            IMMUTABLE PARALLEL SAFE AS $code$
            DECLARE
                result text := normalize(value);
            BEGIN
                IF value IS NULL THEN RETURN NULL; END IF;\(cases)
                RETURN normalize(result);
            END $code$
            """
    }

    /// The foldings of single scalars.
    private struct Folding {
        var single = (from: "", to: "")
        var multiple: [(from: String, to: String)] = []

        init(_ options: PredicateComparison.Options) {
            var (from, to) = (String.UnicodeScalarView(), String.UnicodeScalarView())
            if options.contains(.caseInsensitive) {
                from.append(contentsOf: "ABCDEFGHIJKLMNOPQRSTUVWXYZ".unicodeScalars)
                to.append(contentsOf: "abcdefghijklmnopqrstuvwxyz".unicodeScalars)
            }
            // Without ideographs and syllables, which have neither case nor diacritics.
            let alphabets: [ClosedRange<UInt32>] = [0x80...0x33FF, 0xA640...0xABFF, 0xF900...0x118FF, 0x16E00...0x16EFF, 0x1E900...0x1E9FF]
            for value in alphabets.joined() {
                guard let scalar = Unicode.Scalar(value), scalar.properties.generalCategory != .unassigned,
                    scalar.properties.generalCategory != .privateUse
                else { continue }
                let text = String(Character(scalar))
                // Composed text has no other.
                if text.precomposedStringWithCanonicalMapping.unicodeScalars.first != scalar { continue }
                let folded = TextPattern.folded(text, options)
                if folded.unicodeScalars.elementsEqual(text.unicodeScalars) { continue }
                if folded.unicodeScalars.count == 1 {
                    from.append(scalar)
                    to.append(contentsOf: folded.unicodeScalars)
                } else {
                    multiple.append((text, folded))
                }
            }
            single = (String(from), String(to))
        }
    }
}
#endif
