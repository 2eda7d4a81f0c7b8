import Foundation
import JSONReading
import TestSupport
import Testing

@testable import WebBackend

@Suite struct FileDamageTests {
    @Test func aDamagedDescriptionIsReadOrRefusedAsTheSchemaHasIt() throws {
        let seed = TestSeed.current(for: "Damaged descriptions")
        let checker = try SchemaChecker(WebService.schema)
        let examples = try DescriptionExamples.all.map { try JSONValue(parsing: Array($0.utf8)) }
        var (read, refused) = (0, 0)
        for number in TestRounds(seconds: 1.3, atLeast: 20) {
            let round = UInt64(number)
            var random = SeededGenerator(seed: seed &+ round &* 7919)
            var value = examples.randomElement(using: &random)!
            if round % 2 == 1 {
                var descriptions = RandomDescription(seed: seed &+ round)
                value = try JSONValue(parsing: Array(descriptions.service().json()))
            }
            for _ in 0..<Int.random(in: 1...2, using: &random) { value = damaged(value, &random, depth: 0) }
            let bytes = try value.serialized()
            let violation = checker.violation(value)
            do {
                _ = try WebServiceFile(json: Data(bytes))
                read += 1
                if let violation { Issue.record("seed \(seed): read, but the schema refuses it (\(violation)): \(value)") }
            } catch {
                refused += 1
                let error = error as NSError
                expect(error.code, equals: 134080)
                // What a schema cannot say: a key twice, the names of secrets.
                let isBeyondSchema = ["is there twice", "secret never stands"].contains { error.localizedDescription.contains($0) }
                if violation == nil, !isBeyondSchema {
                    Issue.record("seed \(seed): refused, but the schema allows it: \(error.localizedDescription) \(value)")
                }
            }
        }
        print("\(read) were read, \(refused) refused.")
    }

    @Test func textWithDamagedBytesIsReadOrRefused() {
        let seed = TestSeed.current(for: "Damaged bytes")
        var random = SeededGenerator(seed: seed)
        for round in TestRounds(seconds: 0.7, atLeast: 20) {
            var bytes = Array(DescriptionExamples.all.randomElement(using: &random)!.utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0...3, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(Array("{}[],:\"0-\\".utf8).randomElement(using: &random)!, at: place)
                default: bytes.replaceSubrange(place..<min(bytes.count, place + 20), with: bytes.prefix(7))
                }
            }
            do {
                _ = try WebServiceFile(json: Data(bytes))
            } catch {
                expect((error as NSError).code, equals: 134080, "COREDATA_TEST_SEED=\(seed), round \(round)")
            }
            #if YAML
            do {
                _ = try WebServiceFile(yaml: String(decoding: bytes, as: UTF8.self))
            } catch {
                expect((error as NSError).code, equals: 134080, "COREDATA_TEST_SEED=\(seed), round \(round)")
            }
            #endif
        }
    }

    @Test func nestingBeyondTheLimitIsAnError() {
        let text = String(repeating: "[", count: 100_000)
        let error = #expect(throws: NSError.self) { try WebService(json: Data(text.utf8)) }
        expect(error?.code, equals: 134080)
    }

    /// Returns a value of which one part is another.
    private func damaged(_ value: JSONValue, _ random: inout SeededGenerator, depth: Int) -> JSONValue {
        if depth > 0, Int.random(in: 0...3, using: &random) == 0 {
            return [
                .null, true, 0, -1, 1.5, 100_000_001, "", "none", "link:next", "header:", "date:day", "kinto", [], .object([:]), ["a"],
                ["x": 1], ["jsonText": "x"], ["path": "a"],
                ["name": "a", "path": "b"], ["list": "a"], "POST", "a b", ["environment": "A"], 9_000_000_000_000_000_000,
                .decimal("1e999"),
            ].randomElement(using: &random)!
        }
        switch value {
        case .object(var object) where !object.members.isEmpty:
            let index = object.members.indices.randomElement(using: &random)!
            switch Int.random(in: 0...6, using: &random) {
            case 0: object.members.remove(at: index)
            case 1:
                object.members[index].key = ["unknown", "size", "next", "page", "path", "name", "like", "=="].randomElement(using: &random)!
            case 2: object.members.append(object.members[index])
            default: object.members[index].value = damaged(object.members[index].value, &random, depth: depth + 1)
            }
            return .object(object)
        case .array(var array) where !array.isEmpty:
            let index = array.indices.randomElement(using: &random)!
            if Int.random(in: 0...5, using: &random) == 0 {
                array.remove(at: index)
            } else {
                array[index] = damaged(array[index], &random, depth: depth + 1)
            }
            return .array(array)
        default: return depth == 0 ? value : ["list", "of", "words"]
        }
    }
}
