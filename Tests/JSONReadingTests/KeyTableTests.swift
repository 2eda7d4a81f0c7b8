import JSONReading
import TestSupport
import Testing

@Suite("Tables of keys") struct KeyTableTests {
    /// What a table finds in each object of an array, and the keys as they were read.
    private func indices(_ keys: [String], _ text: String) throws -> [[Int]] {
        let table = JSONKeyTable(keys)
        return try scan(text) { scanner in
            var found: [[Int]] = []
            try scanner.beginArray()
            while try scanner.nextElement() {
                var row: [Int] = []
                try scanner.beginObject()
                while let index = try scanner.nextIndex(in: table) {
                    row.append(index)
                    let key = scanner.key().string
                    expect(keys.firstIndex(of: key) ?? -1, equals: index)
                    try scanner.skipValue()
                }
                found.append(row)
            }
            try scanner.end()
            return found
        }
    }

    @Test("Keys are known by their index, in whatever order they come, missing or new")
    func orders() throws {
        let found = try indices(
            ["id", "name", "a key that is longer than a word", "d"],
            """
            [{"id":1,"name":2,"a key that is longer than a word":3,"d":4},
             {"id":1,"name":2,"a key that is longer than a word":3,"d":4},
             {"d":1,"a key that is longer than a word":2,"name":3,"id":4},
             {"id":1,"d":2},
             {"id" : 1,"name" :\t2, "d"\n: 3},
             {},
             {"unknown":0,"id":1,"another unknown one":[],"name":2},
             {"unknown":0,"id":1,"another unknown one":[],"name":2},
             {"unknowm":0,"iD":1,"another unknown onf":[],"a key that is longer than a wore":2},
             {"name":1,"name":2,"nam":3,"names":4},
             {"n\\u0061me":1,"name":2,"\\u0069d":3},
             {"n\\u0061me":1,"name":2,"\\u0069d":3}]
            """)
        expect(
            found,
            equals: [
                [0, 1, 2, 3], [0, 1, 2, 3], [3, 2, 1, 0], [0, 3], [0, 1, 3], [], [-1, 0, -1, 1], [-1, 0, -1, 1], [-1, -1, -1, -1],
                [1, 1, -1, -1], [1, 1, 0], [1, 1, 0],
            ])
    }

    @Test("An empty table knows no key; an empty key can be one; of a key that is there twice the first index counts")
    func edges() throws {
        try expect(indices([], #"[{"a":1,"":2},{"a":1,"":2}]"#), equals: [[-1, -1], [-1, -1]])
        try expect(indices([""], #"[{"a":1,"":2},{"a":1,"":2}]"#), equals: [[-1, 0], [-1, 0]])
        try expect(indices(["a", "b", "a"], #"[{"a":1,"b":2}]"#), equals: [[0, 1]])
    }

    @Test("Objects in objects are read with the same table or others, more of them than a scanner remembers")
    func nesting() throws {
        let tables = (0..<50).map { JSONKeyTable(["next", "key\($0)"]) }
        let text = (0..<49).reduce(#"{"key49":1}"#) { inner, step in #"{"key\#(48 - step)":0,"next":\#(inner),"other":2}"# }
        func read(_ scanner: inout JSONScanner, _ level: Int) throws -> Int {
            var found = 0
            try scanner.beginObject()
            while let index = try scanner.nextIndex(in: tables[level]) {
                switch index {
                case 0: found += try read(&scanner, level + 1)
                case 1:
                    try scanner.skipValue()
                    found += 1
                default:
                    #expect(scanner.key() == "other")
                    try scanner.skipValue()
                }
            }
            return found
        }
        try scan("[\(text),\(text),\(text)]") { scanner in
            try scanner.beginArray()
            while try scanner.nextElement() { try expect(read(&scanner, 0), equals: 50) }
            try scanner.end()
        }

        let table = JSONKeyTable(["id", "replies", "text"])
        func count(_ scanner: inout JSONScanner) throws -> Int {
            var found = 0
            try scanner.beginObject()
            while let index = try scanner.nextIndex(in: table) {
                if index == 1 {
                    try scanner.beginArray()
                    while try scanner.nextElement() { found += try count(&scanner) }
                } else {
                    found += index == 0 ? 1 : 0
                    try scanner.skipValue()
                }
            }
            return found
        }
        let reply = #"{"id":1,"replies":[{"id":2,"replies":[{"id":3,"text":"x"}],"text":"y"},{"id":4,"replies":[]}],"text":"z"}"#
        try scan("[\(reply),\(reply)]") { scanner in
            try scanner.beginArray()
            while try scanner.nextElement() { try expect(count(&scanner), equals: 4) }
        }
    }

    @Test("A table that is gone while the scanner is there is not taken for another one at its address")
    func lifetimes() throws {
        try scan("[" + String(repeating: #"{"a":1,"b":2},"#, count: 200) + #"{"a":1,"b":2}]"#) { scanner in
            try scanner.beginArray()
            var isTurned = false
            while try scanner.nextElement() {
                let table = JSONKeyTable(isTurned ? ["b", "a"] : ["a", "b"])
                try scanner.beginObject()
                try expect(scanner.nextIndex(in: table), equals: (isTurned ? 1 : 0))
                try scanner.skipValue()
                try expect(scanner.nextIndex(in: table), equals: (isTurned ? 0 : 1))
                try scanner.skipValue()
                #expect(try scanner.nextIndex(in: table) == nil)
                isTurned.toggle()
            }
        }
    }

    @Test("Random objects give the indices that looking up gives")
    func random() throws {
        let seed = TestSeed.current(for: "Random objects and tables of keys")
        var random = SeededGenerator(seed: seed)
        for round in TestRounds(seconds: 0.4, atLeast: 30) {
            let letters = ["a", "b", "ab", "é", "x\\n", "0123456", "01234567", "012345678", "日本"]
            func name() -> String {
                (0..<Int.random(in: 0...4, using: &random)).map { _ in letters.randomElement(using: &random)! }.joined()
            }
            let names = Array(Set((0..<30).map { _ in name() }))
            let unescaped = names.map { $0.replacing("\\n", with: "\n") }
            let keys = Array(unescaped.prefix(Int.random(in: 0...names.count, using: &random)))
            var text = "["
            for _ in 0..<20 {
                if text.count > 1 { text += "," }
                var order = Array(names.indices)
                if Bool.random(using: &random) { order.removeAll { _ in Int.random(in: 0..<5, using: &random) == 0 } }
                if Int.random(in: 0..<4, using: &random) == 0 { order.shuffle(using: &random) }
                let space = ["", "", "", " ", "\n\t"].randomElement(using: &random)!
                text += "{" + order.map { "\"\(names[$0])\"\(space):\(space)\($0)" }.joined(separator: ",\(space)") + "}"
            }
            let table = JSONKeyTable(keys)
            try scan(text + "]") { scanner in
                try scanner.beginArray()
                while try scanner.nextElement() {
                    try scanner.beginObject()
                    while let index = try scanner.nextIndex(in: table) {
                        let number = Int(try scanner.readInteger())
                        if index != keys.firstIndex(of: unescaped[number]) ?? -1 { Issue.record("seed \(seed), round \(round)") }
                    }
                }
                try scanner.end()
            }
        }
    }
}
