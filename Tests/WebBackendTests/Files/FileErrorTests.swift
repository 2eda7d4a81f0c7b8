import Foundation
import TestSupport
import Testing
import WebTransport

@testable import WebBackend

@Suite struct FileErrorTests {
    /// Returns the text of the error that reading a description ends in.
    private func message(_ text: String) throws -> String {
        let error = try #require(throws: NSError.self) { try WebServiceFile(json: Data(text.utf8)) }
        expect(error.domain, equals: NSCocoaErrorDomain)
        expect(error.code, equals: 134080)
        return error.localizedDescription
    }

    @Test func anUnknownKeyIsNamedWithItsPlaceAndTheKeyThatWasProbablyMeant() throws {
        let text = """
            {
              "address": "https://example.com",
              "resources": ["Band", "Label",
                {"entity": "Album", "calls": [
                  {"list": "albums", "paging": {"page": "p", "sise": "n"}}
                ]}
              ]
            }
            """
        let message = try message(text)
        #expect(message.contains("line 5, column 50 (resources[2].calls[0].paging.sise)"), "\(message)")
        #expect(message.contains("“sise” is no key that is known here. Did you mean “size”?"), "\(message)")
    }

    @Test(arguments: [
        (#"{"address": 7}"#, "(address). Expected a string, found a number."),
        (#"{"address": "https://a.b", "resources": {}}"#, "(resources). Expected a list, found an object."),
        (
            #"{"address": "https://a.b", "resources": [{"entity": "A", "readOnly": "yes"}]}"#,
            "(resources[0].readOnly). Expected true or false, found a string."
        ),
        (
            #"{"address": "https://a.b", "style": {"paging": {"page": "p", "of": 0}}}"#,
            "(style.paging.of). Expected a whole number of at least 1, found a number."
        ),
        (#"{"address": "https://a.b", "style": {"paging": {"page": "p", "of": 1.5}}}"#, "(style.paging.of). Expected a whole number"),
        (
            #"{"address": "https://a.b", "style": {"version": 3}}"#,
            "(style.version). Expected a word or an object with one key (none, eTag, number:…, tag:…), found a number."
        ),
        ("[]", "line 1, column 1. Expected an object, found a list."),
    ]) func aValueOfAnotherTypeIsNamedWithTheExpectedOne(text: String, expected: String) throws {
        let message = try message(text)
        #expect(message.contains(expected), "\(message)")
    }

    @Test(arguments: [
        (#"{"address": "https://a.b", "style": "kitno"}"#, "“kitno” is no convention that is known here. Did you mean “kinto”?"),
        (#"{"address": "https://a.b", "style": {"names": "snake_case"}}"#, "Did you mean “snakeCase”?"),
        (#"{"address": "https://a.b", "style": {"version": "etag"}}"#, "Did you mean “eTag”?"),
        (#"{"address": "https://a.b", "style": {"paging": {"next": "heder:Next"}}}"#, "“heder:Next” is no part of an answer"),
        (#"{"address": "https://a.b", "resources": [{"entity": "A", "calls": ["lst"]}]}"#, "(resources[0].calls[0]). “lst” is no call"),
        (#"{"address": "https://a.b", "style": {"filters": {"inexact": ["contain"]}}}"#, "Did you mean “contains”?"),
    ]) func anUnknownWordIsNamedWithTheOneThatWasProbablyMeant(text: String, expected: String) throws {
        let message = try message(text)
        #expect(message.contains(expected), "\(message)")
    }

    @Test(arguments: [
        (#"{"style": "kinto"}"#, "The key “address” is missing."),
        (#"{"address": "https://a.b", "resources": [{"path": "bands"}]}"#, "(resources[0]). The key “entity” is missing."),
        (
            #"{"address": "https://a.b", "resources": [{"entity": "A", "calls": [{"path": "a"}]}]}"#,
            "(resources[0].calls[0]). The key “name” is missing."
        ),
    ]) func aMissingKeyIsNamed(text: String, expected: String) throws {
        let message = try message(text)
        #expect(message.contains(expected), "\(message)")
    }

    @Test(arguments: [
        (#"{"address": "https://a.b", "address": "https://c.d"}"#, "line 1, column 28 (address). “address” is there twice."),
        (#"{"address": "https://a.b", "style": {"paging": {"page": "p", "offset": "o"}}}"#, "“page” and “offset” exclude each other."),
        (#"{"address": "https://a.b", "style": {"filters": {"equal": "a", "==": "b"}}}"#, "“equal” and “==” exclude each other."),
        (#"{"address": "https://a.b", "style": {"version": {"tag": "a", "number": "b"}}}"#, "Expected an object with one key, found 2."),
        (#"{"address": "https://a.b","#, "line 1, column 27. Expected a key"),
        ("", "line 1, column 1. Expected a value"),
    ]) func whatContradictsItselfIsAnError(text: String, expected: String) throws {
        let message = try message(text)
        #expect(message.contains(expected), "\(message)")
    }

    @Test(arguments: [
        #""s3cr3t-value""#, #"{"bearer": "s3cr3t-value"}"#, #"{"bearer": {"environment": "s3cr3t-value"}}"#,
        #"{"bearer": {"s3cr3t-value": 1}}"#,
        #"{"basic": {"user": "anna", "password": "s3cr3t-value"}}"#, #"{"header": {"name": "X-Key", "value": ["s3cr3t-value"]}}"#,
        #"{"oauth2": {"tokenURL": "https://a.b", "clientID": "a", "clientSecret": "s3cr3t-value"}}"#,
        #"{"oauth2": {"tokenURL": "https://a.b", "clientID": "a", "parameters": {"client_secret": "s3cr3t-value"}}}"#,
        #"{"session": {"url": "https://a.b", "fields": {"password": "s3cr3t-value"}}}"#,
        #"{"session": {"url": "https://a.b", "secretFields": {"pin": "s3cr3t-value"}}}"#,
    ]) func aSecretInAFileIsAnErrorThatDoesNotRepeatIt(authentication: String) throws {
        let message = try message(DescriptionExamples.description(authentication: authentication))
        #expect(message.contains("(authentication"))
        #expect(!message.contains("s3cr3t"), "\(message)")
    }

    @Test func aLiteralSecretIsCalledOne() throws {
        let message = try message(DescriptionExamples.description(authentication: #"{"bearer": "s3cr3t-value"}"#))
        #expect(message.contains("(authentication.bearer). A secret never stands in a description itself."), "\(message)")
        #expect(message.contains("{environment: NAME} or {file: PATH}"))
    }

    @Test(arguments: [
        #"{"address": "https://anna:s3cr3t@example.com"}"#, #"{"address": "https://a.b", "headers": {"Authorization": "Bearer s3cr3t"}}"#,
        #"{"address": "https://a.b", "query": {"api_key": "s3cr3t"}}"#,
        #"{"address": "https://a.b", "resources": [{"entity": "A", "calls": [{"list": "a", "query": {"token": "s3cr3t"}}]}]}"#,
    ]) func aSecretInAnAddressOrHeaderOrParameterIsAnErrorThatDoesNotRepeatIt(text: String) throws {
        let message = try message(text)
        #expect(message.contains("a secret never stands in a description"), "\(message)")
        #expect(!message.contains("s3cr3t"))
    }

    @Test func whatAFileHasNoFormForIsNotWritten() throws {
        var file = WebServiceFile(service: WebService("https://example.com"))
        file.options.authentication = .bearer(.value("s3cr3t"))
        var error = #expect(throws: NSError.self) { try file.json() }
        expect(error?.code, equals: 134080)
        expect(error.map { "\($0)" }?.contains("s3cr3t"), equals: false)
        file.options.authentication = .signing { _ in }
        #expect(throws: NSError.self) { try file.json() }

        error = #expect(throws: NSError.self) { try WebService("https://a.b", headers: ["Cookie": "s3cr3t"]).json() }
        expect(error.map { "\($0)" }?.contains("s3cr3t"), equals: false)
        let infinite = WebResource("A", properties: ["a": PropertyMapping(.scaled(by: .infinity))])
        #expect(throws: NSError.self) { try WebService("https://a.b", resources: [infinite]).json() }
    }
}
