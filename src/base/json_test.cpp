// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace rk {
namespace {

std::string error_of(std::string_view text) {
  const auto parsed = parse_json(text);
  return parsed.ok() ? "no error" : parsed.status().message();
}

TEST(JsonTest, ReadsEveryKindOfValue) {
  const auto parsed = parse_json(
      R"( {"a": null, "b": [true, false], "c": -7, "d": 0.25, "e": "x", "f": {"g": []}} )");
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  const Json& json = *parsed;
  EXPECT_TRUE(json.find("a")->is_null());
  EXPECT_EQ(json.find("b")->at(0)->as_bool(), true);
  EXPECT_EQ(json.find("b")->at(1)->as_bool(), false);
  EXPECT_EQ(json.find("b")->at(2), nullptr);
  EXPECT_EQ(json.find("c")->as_int(), -7);
  EXPECT_EQ(json.find("c")->as_double(), -7.0);
  EXPECT_EQ(json.find("d")->as_double(), 0.25);
  EXPECT_EQ(json.find("d")->as_int(), std::nullopt);
  EXPECT_EQ(*json.find("e")->as_string(), "x");
  EXPECT_EQ(json.find("f")->find("g")->size(), 0u);
  EXPECT_EQ(json.find("nothing"), nullptr);
  EXPECT_EQ(json.find("c")->find("nothing"), nullptr);
  EXPECT_EQ(json.as_object()->size(), 6u);
}

TEST(JsonTest, KeepsTheOrderOfMembersAndRepeatsNothing) {
  Json json = Json::object({{"z", 1}, {"a", "two"}});
  json.set("m", Json::array({1, nullptr, true}));
  json.set("z", 3);
  EXPECT_EQ(write_json(json), R"({"z":3,"a":"two","m":[1,null,true]})");
}

TEST(JsonTest, TheLastOfRepeatedMembersCounts) {
  EXPECT_EQ(parse_json(R"({"k":1,"k":2})")->find("k")->as_int(), 2);
}

TEST(JsonTest, IntegersAreExactToTheEndsOfInt64) {
  for (const std::string text :
       {"9223372036854775807", "-9223372036854775808", "9007199254740993"}) {
    const auto parsed = parse_json(text);
    ASSERT_TRUE(parsed.ok());
    EXPECT_TRUE(parsed->is_int());
    EXPECT_EQ(write_json(*parsed), text);
  }
  EXPECT_EQ(parse_json("9223372036854775808")->as_double(), 0x1p63);
  EXPECT_EQ(Json(std::numeric_limits<uint64_t>::max()).as_double(), 0x1p64);
  EXPECT_EQ(Json(uint32_t{0xffffffff}).as_int(), 4294967295);
}

TEST(JsonTest, DoublesAreWrittenShortAndReadBackTheSame) {
  EXPECT_EQ(write_json(0.1), "0.1");
  EXPECT_EQ(write_json(1.0), "1.0");
  EXPECT_EQ(write_json(-0.0), "-0.0");
  EXPECT_EQ(write_json(1e300), "1e+300");
  for (const double value : {1.0 / 3, 0x1p-1074, 0x1.fffffffffffffp1023, -123456789.125, 5e-5}) {
    const auto parsed = parse_json(write_json(value));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(parsed->as_double(), value);
    EXPECT_FALSE(parsed->is_int());
  }
  EXPECT_EQ(write_json(std::nan("")), "null");
  EXPECT_EQ(write_json(std::numeric_limits<double>::infinity()), "null");
}

TEST(JsonTest, EscapesComeBackAsTheyWere) {
  EXPECT_EQ(*parse_json(R"("\"\\\/\b\f\n\r\t\u0041")")->as_string(), "\"\\/\b\f\n\r\tA");
  EXPECT_EQ(*parse_json(R"("\u00e9\u4e2d\ud83d\ude00")")->as_string(), "é中😀");
  EXPECT_EQ(*parse_json(R"("\ud83dx\ude00\ud83d\u0041")")->as_string(), "\ufffdx\ufffd\ufffdA");
  const std::string raw("a\0\x01\x1f\n\"\\\x7f\xff\xfe", 10);
  EXPECT_EQ(write_json(raw), "\"a\\u0000\\u0001\\u001f\\n\\\"\\\\\x7f\xff\xfe\"");
  EXPECT_EQ(*parse_json(write_json(raw))->as_string(), raw);
}

TEST(JsonTest, PrettyPutsMembersOnLinesAndNumbersInRows) {
  const Json json = Json::object({{"shape", Json::array_of(std::vector<int64_t>{1, 3})},
                                  {"names", Json::array({"a", "b"})},
                                  {"none", Json::object()}});
  EXPECT_EQ(write_json(json, 2), R"({
  "shape": [1, 3],
  "names": [
    "a",
    "b"
  ],
  "none": {}
})");
  EXPECT_EQ(*parse_json(write_json(json, 2)), json);
  EXPECT_EQ(*parse_json(write_json(json)), json);
}

TEST(JsonTest, RefusesWhatTheGrammarDoesNotKnow) {
  for (const char* text :
       {"",          " ",       "{",        "[",         "[1,]",        "{\"a\":1,}",  "{a:1}",
        "{\"a\" 1}", "[1 2]",   "01",       "-",         "+1",          ".5",          "1.",
        "1e",        "1e+",     "tru",      "nulll",     "NaN",         "Infinity",    "'a'",
        "\"a",       "\"\\",    "\"\\x\"",  "\"\\u12\"", "\"\\u12g4\"", "\"\\u+123\"", "\"a\nb\"",
        "1 2",       "// c\n1", "{\"a\":}", "]"}) {
    EXPECT_FALSE(parse_json(text).ok()) << text;
  }
  EXPECT_FALSE(parse_json(std::string_view("\0", 1)).ok());
  EXPECT_FALSE(parse_json(std::string_view("[1,\0]", 5)).ok());
}

TEST(JsonTest, ErrorsSayWhereAndWhatWasExpected) {
  EXPECT_EQ(error_of("{\n  \"a\": [1, x]\n}"),
            "JSON line 2, column 12: a value expected, found 'x'");
  EXPECT_EQ(error_of("[1"), "JSON line 1, column 3: ',' or ']' expected, the text ends");
  EXPECT_EQ(error_of("{} \xff"),
            "JSON line 1, column 4: the end of the text expected, found byte 255");
  EXPECT_EQ(error_of("[1e999]"),
            "JSON line 1, column 2: the number is beyond the range of a double");
}

TEST(JsonTest, NestsSixtyFourLevelsAndNoFurther) {
  EXPECT_TRUE(parse_json(std::string(64, '[') + std::string(64, ']')).ok());
  EXPECT_EQ(error_of(std::string(1000000, '[')),
            "JSON line 1, column 65: nested deeper than 64 levels");
  std::string objects;
  for (int i = 0; i < 65; ++i) objects += "{\"k\":";
  EXPECT_FALSE(parse_json(objects).ok());
}

TEST(JsonTest, RefusesEveryPrefixOfAText) {
  const std::string text = R"({"a":[1,-2.5e-3,"x\n\u00e9\ud83d\ude00"],"b":{"c":true,"d":null}})";
  ASSERT_TRUE(parse_json(text).ok());
  for (size_t size = 0; size < text.size(); ++size) {
    // A copy of exactly this size, so that the address sanitizer sees a read past its end.
    const std::vector<char> prefix(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(parse_json({prefix.data(), prefix.size()}).ok()) << size;
  }
}

TEST(JsonTest, ReadingWhatIsNotThereThrowsInsteadOfReadingThroughNull) {
  const Json json = Json::object({{"list", Json::array({1})}, {"text", "t"}});
  EXPECT_THROW((void)*json.find("missing"), JsonKindError);
  EXPECT_THROW((void)json.find("missing")->size(), JsonKindError);
  EXPECT_THROW((void)*json.find("list")->at(1), JsonKindError);
  EXPECT_THROW((void)json.find("list")->as_string()->size(), JsonKindError);
  EXPECT_THROW((void)json.find("text")->as_array()->size(), JsonKindError);
  EXPECT_THROW((void)*json.find("text")->as_int(), JsonKindError);
  EXPECT_EQ(json.find("text")->as_array(), nullptr);
  EXPECT_EQ(*json.find("list")->at(0)->as_int(), 1);
}

TEST(JsonTest, OnlyArraysHaveElementsToCount) {
  const Json json = Json::object({{"a", 1}});
  EXPECT_EQ(json.size(), 0u);
  EXPECT_EQ(json.at(0), nullptr);
  EXPECT_EQ(json.as_object()->size(), 1u);
}

}  // namespace
}  // namespace rk
