internal import CoreData

extension Behaviour {
    /// The behaviours of attribute values.
    static let values: [Behaviour] = [
        Behaviour(.changes, "Setting nil persists; nil and a default value are two things", requires: .anyModel) { run in
            try run.inContext { context in
                let (a, b) = (run.addMember("a", in: context), run.addMember("b", in: context))
                try expectEqual(a.value(forKey: "note") as? String, "default")
                b.setValue(nil, forKey: "note")
                try context.save()
            }
            try run.elsewhere { context in
                try expectEqual(try run.members(context).map { $0.value(forKey: "note") as? String }, ["default", nil])
                try expectEqual(try run.members(context, NSPredicate(format: "note == nil")).count, 1)
            }
        },
        Behaviour(.changes, "An attribute of every type can be set to nil again", requires: .anyModel) { run in
            let values: [String: any Sendable] = [
                "number": 1, "real": 1.5, "exact": Decimal(1), "date": Date(), "data": Data([1]), "flag": true, "uuid": UUID(),
                "url": URL(string: "https://example.org")!, "small": Int16(1), "medium": Int32(1), "single": Float(1), "note": "n",
                "words": ["w"],
            ]
            try run.inContext { context in
                let object = run.addMember("a", in: context)
                object.setValuesForKeys(values)
                try context.save()
                for key in values.keys { object.setValue(nil, forKey: key) }
                try context.save()
            }
            try run.elsewhere { context in
                let object = try run.member("a", context)
                for key in values.keys { try expect(object.value(forKey: key) == nil, "\(key) is not nil") }
            }
        },
        Behaviour(.changes, "Whole numbers at both ends of their types come back", requires: .anyModel) { run in
            try comeBack("small", [Int16.min, -1, 0, Int16.max].map(Int.init), in: run)
            try comeBack("medium", [Int32.min, -1, 0, Int32.max].map(Int.init), in: run)
            try comeBack("number", [Int.min, Int.min + 1, -1, 0, 1 << 53 + 1, Int.max - 1, Int.max], in: run)
            try comeBack("flag", [true, false], in: run)
        },
        Behaviour(.changes, "A whole number beyond its type is refused", requires: .anyModel) { run in
            for (key, value) in [("small", Int(Int16.max) + 1), ("small", Int(Int16.min) - 1), ("medium", Int(Int32.max) + 1)] {
                try run.inContext { context in
                    run.addMember("a", in: context).setValue(value, forKey: key)
                    let error = try expectError("saving \(value) as \(key)") { try context.save() }
                    try expectEqual(error.userInfo[NSValidationKeyErrorKey] as? String, key)
                }
            }
            try run.inContext { try expectEqual(try run.members($0).count, 0) }
        },
        Behaviour(.changes, "Doubles and floats come back bit for bit, -0.0 as a zero of either sign", requires: .anyModel) { run in
            let reals: [Double] = [
                .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNormalMagnitude, .leastNonzeroMagnitude,
                -.leastNonzeroMagnitude, .pi, 0.1 + 0.2, 1 / 3, 1e15 + 0.3, 9_007_199_254_740_991, 0, -0.0,
            ]
            try comeBack("real", reals, in: run) { $0.bitPattern == $1.bitPattern || ($0 == 0 && $1 == 0) }
            let singles: [Float] = [
                .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNormalMagnitude, .leastNonzeroMagnitude, .pi, 0.1, 0, -0.0,
            ]
            try comeBack("single", singles, in: run) { $0.bitPattern == $1.bitPattern || ($0 == 0 && $1 == 0) }
        },
        Behaviour(.changes, "Not-a-number is rejected", requires: .anyModel) { run in
            try run.inContext { context in
                run.addMember("a", in: context).setValue(Double.nan, forKey: "real")
                _ = try expectError("saving NaN") { try context.save() }
            }
            try run.inContext { try expectEqual(try run.members($0).count, 0) }
        },
        Behaviour(.changes, "Decimal numbers of 38 digits come back digit for digit", requires: .anyModel) { run in
            let numbers = [
                "99999999999999999999999999999999999999", "-12345678901234567890123456789012345678",
                "12345678901234567890.123456789012345678", "0.00000000000000000000000000000000000001", "-0.1", "0",
                "123456789012345678900000000000",
            ]
            try comeBack("exact", numbers.map { Decimal(string: $0)! }, in: run) { $0 == $1 && "\($0)" == "\($1)" }
        },
        Behaviour(.changes, "Dates long before 1970, far ahead and between two milliseconds come back", requires: .anyModel) { run in
            let seconds: [TimeInterval] = [0, -978_307_200, -5e9, -62_135_769_600, 64_092_211_200, 0.000_123, 700_000_000.123_456]
            try comeBack("date", seconds.map(Date.init(timeIntervalSinceReferenceDate:)), in: run)
        },
        Behaviour(.changes, "Text comes back scalar by scalar: empty, NUL, emoji, accents, line ends, quotes", requires: .anyModel) { run in
            let texts = [
                "", " ", "a\u{0}b", "\u{0}", "👩‍👩‍👧🏳️‍🌈", "é", "e\u{301}", "\r\n\t\u{1}\u{7f}", "'\"\\,;%_*?", "שלום\u{202e}", "\u{feff}x",
                "<a>&amp;]]>", "NULL", "0012", String(repeating: "ą", count: 100_000),
            ]
            try comeBack("note", texts, in: run) { $0.unicodeScalars.elementsEqual($1.unicodeScalars) }
        },
        Behaviour(.changes, "Data of 0 and of 500,000 bytes comes back", requires: .anyModel) { run in
            try comeBack("data", [Data(), Data([0]), Data((0..<500_000).map { UInt8(truncatingIfNeeded: $0) })], in: run)
        },
        Behaviour(.changes, "UUIDs, URIs and transformable values come back", requires: .anyModel) { run in
            try comeBack("uuid", [UUID(), UUID(uuidString: "00000000-0000-0000-0000-000000000000")!], in: run)
            let urls = ["https://example.org/%C3%A4?b=c#d", "file:///tmp/a%20b", "urn:isbn:0451450523", "mailto:a@example.org"]
            try comeBack("url", urls.map { URL(string: $0)! }, in: run)
            try comeBack("words", [[], ["one"], ["one", "two, three", ""]], in: run)
        },
    ]

    /// Saves a member for each value, edits each once, and reads the values with nothing cached.
    private static func comeBack<Value: Equatable>(
        _ key: String, _ values: [Value], in run: ConformanceRun, isSame: (Value, Value) -> Bool = { $0 == $1 }
    ) throws {
        try run.inContext { context in
            for object in try run.members(context) { context.delete(object) }
            for (index, value) in values.enumerated() { run.addMember(String(1000 + index), in: context).setValue(value, forKey: key) }
            try context.save()
        }
        func check(_ offset: Int, _ when: String) throws {
            try run.elsewhere { context in
                let members = try run.members(context)
                try expectEqual(members.count, values.count, "\(key) \(when):")
                for (index, object) in members.enumerated() {
                    let (found, wanted) = (object.value(forKey: key), values[(index + offset) % values.count])
                    guard let same = found as? Value, isSame(same, wanted) else {
                        throw ConformanceFailure(
                            description:
                                "\(key) \(when): \("\(wanted)".prefix(100)) came back as \(found.map { "\($0)".prefix(100) } ?? "nil")")
                    }
                }
            }
        }
        try check(0, "inserted")
        try run.inContext { context in
            for (index, object) in try run.members(context).enumerated() {
                object.setValue(values[(index + 1) % values.count], forKey: key)
            }
            try context.save()
        }
        try check(1, "edited")
    }
}
