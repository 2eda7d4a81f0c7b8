import Foundation
import TestSupport
import Testing

@testable import WebTransport

@Suite("Streams of events are read as the standard says") struct EventParsingTests {
    private func events(_ text: String) throws -> [ServerSentEvent] { try events(Array(text.utf8)) }

    private func events(_ bytes: [UInt8]) throws -> [ServerSentEvent] {
        var parser = EventStreamParser()
        return try parser.read(bytes)
    }

    @Test(
        "The standard's examples, and what is at their edges",
        arguments: [
            ("data: YHOO\ndata: +2\ndata: 10\n\n", [ServerSentEvent(data: "YHOO\n+2\n10")]),
            (
                ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
                [
                    ServerSentEvent(data: "first event", lastID: "1"), ServerSentEvent(data: "second event"),
                    ServerSentEvent(data: " third event"),
                ]
            ),
            // The last one has not ended.
            ("data\n\ndata\ndata\n\ndata:", [ServerSentEvent(data: ""), ServerSentEvent(data: "\n")]),
            ("data:test\n\ndata: test\n\n", [ServerSentEvent(data: "test"), ServerSentEvent(data: "test")]),
            (
                "event: add\rdata: 73857293\r\revent: remove\r\ndata: 2153\r\n\r\n",
                [
                    ServerSentEvent(name: "add", data: "73857293"), ServerSentEvent(name: "remove", data: "2153"),
                ]
            ),
            ("\u{FEFF}data: a\n\n\u{FEFF}data: b\n\n", [ServerSentEvent(data: "a")]),
            ("event: lost\n\ndata: a\n\n", [ServerSentEvent(data: "a")]),
            ("id: 7\n\ndata: a\nid: 8\0\n\n", [ServerSentEvent(data: "a", lastID: "7")]),
            ("DATA: a\ndatum: b\n:data: c\nretry: soon\n\n", []), ("\n\n\r\n\r\r", []), ("", []),
        ])
    func examples(text: String, expected: [ServerSentEvent]) throws { try expect(events(text), equals: expected) }

    @Test("The time to wait before another connection is kept, and only digits say one")
    func retry() throws {
        var parser = EventStreamParser()
        _ = try parser.read(Array("retry: 1500\nretry: -1\nretry:\nretry: 99999999999999999999\n".utf8))
        expect(parser.retryMilliseconds, equals: 1500)
        _ = try parser.read(Array("retry:20\r\n".utf8))
        expect(parser.retryMilliseconds, equals: 20)
    }

    @Test("Bytes that are no UTF-8 are replaced, and end nothing")
    func invalid() throws {
        try expect(events(Array("data: a".utf8) + [0xFF, 0xC3] + Array("\n\n".utf8)), equals: [ServerSentEvent(data: "a\u{FFFD}\u{FFFD}")])
    }

    @Test("A line, and an event of many lines, that grow beyond the limit are an error")
    func limits() {
        var parser = EventStreamParser(maximumBytes: 100)
        #expect(throws: EventStreamParser.TooLarge()) { try parser.read([UInt8](repeating: 97, count: 101)) }
        var second = EventStreamParser(maximumBytes: 100)
        #expect(throws: EventStreamParser.TooLarge()) {
            for _ in 0..<30 { _ = try second.read(Array("data: 12345\n".utf8)) }
        }
    }

    @Test("However random streams are cut into pieces, they have the events of the whole, and no bytes are an error")
    func pieces() throws {
        let seed = TestSeed.current(for: "EventParsingTests.pieces")
        var random = SeededGenerator(seed: seed)
        let words = ["data", "event", "id", "retry", ":", " ", "\n", "\r", "\r\n", "\n\n", "a", "1", "ä", "\u{FEFF}", "\0"].map {
            Array($0.utf8)
        }
        var count = 0
        for _ in TestRounds(seconds: 0.4, atLeast: 101) {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0...60, using: &random) { bytes += words.randomElement(using: &random) ?? [] }
            if Int.random(in: 0...3, using: &random) == 0 { bytes.append(UInt8.random(in: 0...255, using: &random)) }
            var parser = EventStreamParser()
            var rest = bytes[...]
            var found: [ServerSentEvent] = []
            while !rest.isEmpty {
                let length = Int.random(in: 1...min(rest.count, 9), using: &random)
                found += try parser.read(rest.prefix(length))
                rest = rest.dropFirst(length)
            }
            try expect(found, equals: events(bytes), "COREDATA_TEST_SEED=\(seed): \(bytes)")
            if !bytes.contains(13), !bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
                expect(found.map(\.data), equals: Self.plainData(bytes), "COREDATA_TEST_SEED=\(seed): \(bytes)")
            }
            count += 1
        }
        #expect(count > 100 || TestTime.rounds != nil)
    }

    /// The data of the events of a stream whose lines end with line feeds, by splitting.
    private static func plainData(_ bytes: [UInt8]) -> [String] {
        var lines = bytes.split(separator: 10, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
        lines.removeLast()
        var events: [String] = []
        for block in lines.split(separator: "", omittingEmptySubsequences: true) {
            let data = block.compactMap { line -> String? in
                let scalars = line.unicodeScalars
                let name = scalars.prefix { $0 != ":" }
                guard String(String.UnicodeScalarView(name)) == "data" else { return nil }
                var value = scalars.dropFirst(name.count + 1)
                if value.first == " " { value.removeFirst() }
                return String(String.UnicodeScalarView(value))
            }
            // The last block may not have ended.
            if !data.isEmpty { events.append(data.joined(separator: "\n")) }
        }
        if let last = lines.last, !last.isEmpty, let open = lines.split(separator: "").last,
            open.contains(where: { $0 == "data" || $0.hasPrefix("data:") })
        {
            events.removeLast()
        }
        return events
    }
}
