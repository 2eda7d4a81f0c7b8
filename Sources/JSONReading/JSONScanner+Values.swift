extension JSONScanner {
    /// Reads the next value completely.
    ///
    /// - Throws: If there is no value, or it is malformed or too deep. A number that exceeds the range of doubles is no error.
    package mutating func readValue() throws(JSONError) -> JSONValue {
        switch try peek() {
        case .object:
            var members: [JSONObject.Member] = []
            try beginObject()
            while let key = try nextKey() {
                // The text of the key is valid until the value is read.
                let name = key.string
                members.append(JSONObject.Member(key: name, value: try readValue()))
            }
            return .object(JSONObject(members))
        case .array:
            var elements: [JSONValue] = []
            try beginArray()
            while try nextElement() { elements.append(try readValue()) }
            return .array(elements)
        case .string: return .string(try readString().string)
        case .number: return JSONValue(try readNumber())
        case .true, .false: return .bool(try readBool())
        case .null:
            try readNull()
            return .null
        }
    }
}

extension JSONValue {
    /// Reads a document.
    ///
    /// - Throws: If it is not JSON, or exceeds the limits.
    package init(parsing bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(JSONError) in
                var scanner = try JSONScanner(bytes, limits: limits)
                let value = try scanner.readValue()
                try scanner.end()
                return value
            }
        }
        self = try result.get()
    }

    /// The value of a number, with all its digits.
    package init(_ number: JSONNumber) {
        if number.isInteger, let integer = number.int64, integer != 0 || !number.isNegative {
            self = .integer(integer)
        } else if let double = number.double, number.hasDigits(of: double) {
            self = .number(double)
        } else {
            self = .decimal(number.text.string)
        }
    }
}

extension JSONNumber {
    /// Returns whether the shortest text of a double that is nearest to this number has the digits of this number.
    func hasDigits(of double: Double) -> Bool {
        guard !isTruncated else { return false }
        // Doubles keep fifteen digits, except for subnormal numbers.
        if significand < 1_000_000_000_000_000, double.magnitude >= Double.leastNormalMagnitude || significand == 0 { return true }
        let text = Array(double.magnitude.description.utf8)
        return text.withUnsafeBytes { text in
            guard var scanner = try? JSONScanner(text), let other = try? scanner.readNumber() else { return false }
            return other.normalized == normalized
        }
    }

    /// The significand without trailing zeros, and its power of ten.
    private var normalized: (UInt64, Int) {
        var (digits, power) = (significand, Int(exponent))
        while digits != 0, digits % 10 == 0 {
            digits /= 10
            power += 1
        }
        return (digits, digits == 0 ? 0 : power)
    }
}
