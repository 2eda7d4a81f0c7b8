extension JSONCase {
    private static let alone = "RFC 8259 calls it unpredictable. No Swift string can hold it, so it is an error and not another character."
    private static let beyond = "It is well formed. Reading or skipping it is no error; asking for a double that cannot be is one."
    private static let long = "It is well formed: the text keeps all digits."

    /// What RFC 8259 leaves to each reader, and what this one does.
    static let undecided: [JSONCase] = [
        .i("number_double_huge_neg_exp", "[123.456e-789]", .accepted, "A double that is nearest to it exists: zero."),
        .i(
            "number_huge_exp", "[0.4e00669999999999999999999999999999999999999999999999999999999999999999999999999969999999006]", .accepted,
            beyond),
        .i("number_neg_int_huge_exp", "[-1e+9999]", .accepted, beyond),
        .i("number_pos_double_huge_exp", "[1.5e+9999]", .accepted, beyond),
        .i("number_real_neg_overflow", "[-123123e100000]", .accepted, beyond),
        .i("number_real_pos_overflow", "[123123e100000]", .accepted, beyond),
        .i("number_real_underflow", "[123e-10000000]", .accepted, "A double that is nearest to it exists: zero."),
        .i("number_too_big_neg_int", "[-123123123123123123123123123123]", .accepted, long),
        .i("number_too_big_pos_int", "[100000000000000000000]", .accepted, long),
        .i("number_very_big_negative_int", "[-237462374673276894279832749832423479823246327846]", .accepted, long),
        .i("number_decimal_of_38_digits", "[0.12345678901234567890123456789012345678]", .accepted, long),
        .i("object_key_lone_2nd_surrogate", #"{"\uDFAA":0}"#, .refused, alone),
        .i("string_1st_surrogate_but_2nd_missing", #"["\uDADA"]"#, .refused, alone),
        .i("string_1st_valid_surrogate_2nd_invalid", #"["\uD888\u1234"]"#, .refused, alone),
        .i("string_incomplete_surrogate_and_escape_valid", #"["\uD800\n"]"#, .refused, alone),
        .i("string_incomplete_surrogate_pair", #"["\uDd1ea"]"#, .refused, alone),
        .i("string_incomplete_surrogates_escape_valid", #"["\uD800\uD800\n"]"#, .refused, alone),
        .i("string_invalid_lonely_surrogate", #"["\ud800"]"#, .refused, alone),
        .i("string_invalid_surrogate", #"["\ud800abc"]"#, .refused, alone),
        .i("string_inverted_surrogates_U+1D11E", #"["\uDd1e\uD834"]"#, .refused, alone),
        .i("string_lone_second_surrogate", #"["\uDFAA"]"#, .refused, alone),
        .i(
            "structure_UTF-8_BOM_empty_object", bytes: [0xEF, 0xBB, 0xBF, 0x7B, 0x7D], .refused,
            "RFC 8259 forbids to send a byte order mark and allows to ignore it. A sender that does not know its encoding is not trusted."),
        .i(
            "structure_128_nested_arrays", String(repeating: "[", count: 128) + String(repeating: "]", count: 128), .accepted,
            "The limit of depth is 128 unless told otherwise."),
        .i(
            "structure_129_nested_arrays", String(repeating: "[", count: 129) + String(repeating: "]", count: 129), .refused,
            "The limit of depth is 128 unless told otherwise."),
        .i(
            "structure_500_nested_arrays", String(repeating: "[", count: 500) + String(repeating: "]", count: 500), .refused,
            "The limit of depth is 128 unless told otherwise."),
        .i(
            "object_duplicated_keys", #"{"a":1,"a":2}"#, .accepted,
            "Keys should be unique, says RFC 8259. Whoever reads sees both; of values read whole the last counts."),
    ]

    /// Each byte in each place where few may stand.
    static let generated: [JSONCase] = {
        var cases: [JSONCase] = []
        let all = UInt8.min...UInt8.max
        func add(_ place: String, _ before: String, _ after: String, accepted: (UInt8) -> Bool) {
            for byte in all {
                cases.append(
                    JSONCase(
                        name: "\(accepted(byte) ? "y" : "n")_byte_\(place)_0x\(String(byte, radix: 16))",
                        bytes: Array(before.utf8) + [byte] + Array(after.utf8), verdict: accepted(byte) ? .accepted : .refused))
            }
        }
        let space = Array(" \t\n\r".utf8)
        let digits = Array("0123456789".utf8)
        add("in_array", "[", "]") { space.contains($0) || digits.contains($0) }
        add("before_document", "", "[]") { space.contains($0) }
        add("behind_document", "[]", "") { space.contains($0) }
        add("behind_number", "[1", "]") { space.contains($0) || digits.contains($0) }
        add("behind_zero", "[0", "]") { space.contains($0) }
        add("behind_key", #"{"a""#, "1}") { $0 == UInt8(ascii: ":") }
        add("behind_colon", #"{"a":"#, "1}") { space.contains($0) || digits.dropFirst().contains($0) || $0 == UInt8(ascii: "-") }
        add("between_elements", "[true", "true]") { $0 == UInt8(ascii: ",") }
        add("in_string", #"["a"#, #"xb"]"#) { 0x20..<0x80 ~= $0 && $0 != 0x22 && $0 != 0x5C }
        add("in_long_string", #"["aaaaaaaaaaaa"#, #"xbbbbbbbbbbb"]"#) { 0x20..<0x80 ~= $0 && $0 != 0x22 && $0 != 0x5C }
        add("in_key", #"{"a"#, #"xb":1}"#) { 0x20..<0x80 ~= $0 && $0 != 0x22 && $0 != 0x5C }
        add("behind_backslash", #"["\"#, #""]"#) { Array("\"\\/bfnrt".utf8).contains($0) }
        add("in_unicode_escape", #"["\u00"#, #"1"]"#) { Array("0123456789abcdefABCDEF".utf8).contains($0) }
        return cases
    }()
}
